import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Parser } from 'htmlparser2';
import { pageHtml } from './page-html.js';

/** What an XML parser would refuse: open or crossed tags, entities that XML does not know, characters that it forbids. */
function xmlProblem(html: string): string | null {
  const open: string[] = [];
  let problem: string | null = null;
  const parser = new Parser(
    {
      onopentagname: (name) => void open.push(name),
      onclosetag(name, implied) {
        if (implied || open.pop() !== name) problem ??= `tag ${name}`;
      },
    },
    { xmlMode: true },
  );
  parser.write(html);
  parser.end();
  if (/&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-f]+);)/i.test(html)) problem ??= 'entity';
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(html) || !html.isWellFormed())
    problem ??= 'character';
  return open.length > 0 ? `open ${open.join()}` : problem;
}

describe('pageHtml', () => {
  it('renders what a draft holds', () => {
    expect(pageHtml('## Steps\n\n1. Call `a<b`\n2. **Then** c & d\n\n---\n\n| x |\n|---|\n| 1 |')).toBe(
      '<h2>Steps</h2>\n<ol>\n<li>Call <code>a&lt;b</code></li>\n<li><strong>Then</strong> c &amp; d</li>\n</ol>\n<hr />\n' +
        '<table>\n<thead>\n<tr>\n<th>x</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n</tr>\n</tbody>\n</table>',
    );
  });

  it('lets no markup, script or image of the text through', () => {
    const html = pageHtml(
      '<script>x</script>\n\n<b onclick="x">y</b> ![i](https://evil.example/i.png) [l](javascript:x)',
    );
    expect(html).not.toMatch(/<(?:script|b|img)\b|href="javascript/);
  });

  it('is well-formed whatever the text', () => {
    const pieces = fc.constantFrom(
      '<',
      '>',
      '&',
      '&nbsp;',
      '`',
      '```\n',
      '*',
      '[a](b)',
      '|',
      '\n',
      '\n\n',
      '- ',
      '1. ',
      '# ',
      '"',
      ']]>',
      '<br>',
      '\ud800',
      '\u0000',
      '\u000b',
      '<!--',
      'x',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(pieces, { maxLength: 40 }).map((all) => all.join('')),
          fc.string(),
        ),
        (text) => {
          expect(xmlProblem(pageHtml(text))).toBeNull();
        },
      ),
      { numRuns: 500 },
    );
  });
});
