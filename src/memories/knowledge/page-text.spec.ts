import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pageText } from './page-text.js';

describe('the text of a page', () => {
  it.each([
    ['<p>One &amp; <b>t</b>wo</p><p>Three</p>', 'One & two\nThree'],
    ['<h1>Title</h1><ul><li>a</li><li>b</li></ul>', 'Title\na\nb'],
    ['one<br/>two<br>three', 'one\ntwo\nthree'],
    ['<p>a</p><script>alert(1)</script><style>p {}</style><p>b</p>', 'a\nb'],
    ['no markup: 1 < 2 & 3 > 2', 'no markup: 1 < 2 & 3 > 2'],
    ['<p title="a > b">c</p><!-- d -->', 'c'],
    ['&lt;script&gt;', '<script>'],
    ['<pre>a\n  b</pre>', 'a\n  b'],
    [
      '<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">sh</ac:parameter>' +
        '<ac:plain-text-body><![CDATA[if a < b; then\n  c & d\nfi]]></ac:plain-text-body></ac:structured-macro>',
      'if a < b; then\n  c & d\nfi',
    ],
    ['a\u0000b\ud800', 'a\uFFFDb\uFFFD'],
    ['<table><tr><td>1</td><td>2</td></tr></table>', '1\n2'],
    ['', ''],
  ])('of %j is %j', (html, text) => {
    expect(pageText(html)).toBe(text);
  });

  it('never throws, and is storable', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('<p>', '</p>', '<![CDATA[', ']]>', '<!--', '&', '&#x0;', '<script>', '<pre', '"', '\ud800'),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const text = pageText(parts.join(''));
        return text.isWellFormed() && !text.includes('\u0000');
      }),
    );
  });

  it('is the same wherever the parser is handed its pieces', () => {
    expect(pageText(`<p>${'word '.repeat(200_000)}</p>`)).toHaveLength(999_999);
    expect(pageText(`<p>${'a \n b '.repeat(10_000)}</p>`)).toBe('a b '.repeat(10_000).trim());
    expect(pageText(`<p>${'x'.repeat(16_380)}&amp;y</p><p>z</p>`)).toBe(`${'x'.repeat(16_380)}&y\nz`);
  });

  // Each takes minutes where its cost grows with the square of the page.
  it.each([
    ['paragraphs', '<p>refund &amp; policy</p>'.repeat(100_000), 'refund & policy'],
    ['cells', `<tr>${'<td>1</td>'.repeat(200_000)}</tr>`, '1'],
    ['nesting, which ends the reading', `<p>before</p>${'<div>'.repeat(600_000)}`, 'before'],
    ['ends of what never began', `<p>a</p>${'</p>'.repeat(500_000)}`, 'a'],
  ])('of a page of megabytes is read at once: %s', (_, html, first) => {
    expect(pageText(html).split('\n')[0]).toBe(first);
  });

  it('reads nesting as deep as any page has', () => {
    expect(pageText(`${'<div>'.repeat(900)}x`)).toBe('x');
  });
});
