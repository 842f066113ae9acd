import MarkdownIt from 'markdown-it';

/** HTML in the text stays text, and links lead to web addresses alone. Images would be loaded from wherever the text says. */
const markdown = new MarkdownIt('default', { html: false, xhtmlOut: true, linkify: false }).disable('image');

/** What XML cannot hold, however it is written. */
const NO_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/**
 * Markdown as well-formed XHTML, which both Confluence's storage format and Plane's `description_html` take. Only the
 * entities that XML knows are used.
 */
export function pageHtml(text: string): string {
  return markdown.render(text.toWellFormed().replace(NO_XML, '')).trim();
}
