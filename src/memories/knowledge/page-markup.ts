import { type Handler, Parser } from 'htmlparser2';

/** Elements inside elements; what any page has is far below it. */
const MAX_DEPTH = 1_000;
/** UTF-16 code units between two looks at the depth. */
const SLICE = 16_384;

/** Elements whose content is no text of the page; those of Confluence's storage format hold settings of a macro. */
export const UNREAD: ReadonlySet<string> = new Set([
  'script',
  'style',
  'template',
  'head',
  'ac:parameter',
  'ac:placeholder',
]);

export type MarkupReader = Partial<Pick<Handler, 'onopentagname' | 'onopentag' | 'ontext' | 'onclosetag'>>;

/**
 * Tells `reader` what stands in HTML or in Confluence's storage format. Never throws: what is no markup is text. What
 * follows where elements nest deeper than 1,000 is not read: each level more costs the parser more than the one before, and
 * a page of a megabyte that nests all the way would hold up the process for a minute.
 */
export function readMarkup(html: string, reader: MarkupReader): void {
  let depth = 0;
  const parser = new Parser(
    {
      onopentagname(name) {
        depth += 1;
        reader.onopentagname?.(name);
      },
      onopentag: (...opened) => reader.onopentag?.(...opened),
      ontext: (text) => reader.ontext?.(text),
      onclosetag(...closed) {
        depth -= 1;
        reader.onclosetag?.(...closed);
      },
    },
    // The storage format is XHTML: code blocks stand in CDATA.
    { decodeEntities: true, recognizeCDATA: true, recognizeSelfClosing: true },
  );
  for (let at = 0; at < html.length && depth <= MAX_DEPTH; at += SLICE) parser.write(html.slice(at, at + SLICE));
  parser.end();
}
