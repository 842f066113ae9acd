import { describe, expect, it } from '@jest/globals';
import { skillFileOf } from './page-markdown.js';
import { readSkillFile } from './tool-skill.format.js';

const HEADER =
  '---\nkey: posting\ntrigger:\n  any_of:\n    - tool: post\nphases: [plan]\ntitle: A & B <C>\nsummary: "How"\n---';
const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
const macro = (text: string): string =>
  '<ac:structured-macro ac:name="code" ac:schema-version="1"><ac:parameter ac:name="language">yaml</ac:parameter>' +
  `<ac:plain-text-body><![CDATA[${text}]]></ac:plain-text-body></ac:structured-macro>`;
const rich =
  '<h2>First</h2><p>Look at <strong>all</strong> of <code>post_it</code>,<br/>then&nbsp;go <a href="https://x.y/z">there</a>.</p>' +
  '<ul><li>{{tool post_it}} one</li><li><p>two</p><ul><li>inner</li></ul></li></ul><ol start="3"><li>three</li><li>four</li></ol>' +
  '<table><tbody><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></tbody></table>';
const markdown = [
  '## First',
  'Look at **all** of `post_it`,\nthen go [there](https://x.y/z).',
  '- {{tool post_it}} one\n- two\n  - inner\n3. three\n4. four',
  'a | b',
  '1 | 2',
].join('\n\n');

describe('a page', () => {
  it.each([
    ['a code macro of Confluence', `<p>Edit me.</p>${macro(`${HEADER}\n\n- {{tool x}} a < b\n  - c`)}<p>Ask Ana.</p>`],
    [
      'a code block of Plane',
      `<pre><code class="language-md">${escaped(`${HEADER}\n\n- {{tool x}} a < b\n  - c`)}</code></pre>`,
    ],
  ])('with the whole file in %s is that file', (_, html) => {
    const { skill } = readSkillFile(skillFileOf(html));
    expect(skill).toMatchObject({ key: 'posting', title: 'A & B <C>', body: '- {{tool x}} a < b\n  - c' });
  });

  it.each([
    ['a code macro', macro(HEADER)],
    ['a code block', `<pre><code>${escaped(HEADER)}\n</code></pre>`],
  ])('with the frontmatter in %s has the rest of the page for its body', (_, html) => {
    const { skill, problem } = readSkillFile(skillFileOf(`${html}${rich}`));
    expect(problem).toBeNull();
    expect(skill!.body).toBe(markdown);
  });

  it('without a code block is read as it looks', () => {
    const lines =
      '<hr/><p>key: posting</p><p>trigger: { tool: post }</p><p>phases: [plan]<br />title: T</p><p>summary: S</p><hr/>';
    expect(readSkillFile(skillFileOf(`${lines}<p>Post well.</p>`)).skill).toMatchObject({
      title: 'T',
      body: 'Post well.',
    });
    const typed =
      '<p>---</p><p>key: posting</p><p>trigger: {tool: post}</p><p>phases: [plan]</p><p>title: T</p><p>summary: S</p><p>---</p><p>x</p>';
    expect(readSkillFile(skillFileOf(typed)).skill).toMatchObject({ key: 'posting', body: 'x' });
  });

  it('keeps other code blocks', () => {
    const text = skillFileOf(`${macro(HEADER)}<p>Say</p>${macro('post --now\n  it')}`);
    expect(readSkillFile(text).skill!.body).toBe('Say\n\n```\npost --now\n  it\n```');
  });

  it('does not take the first code block for the file where it is none', () => {
    const text = skillFileOf(`${macro('ls -l')}${macro(HEADER)}<p>x</p>`);
    expect(readSkillFile(text).skill!.body).toBe('```\nls -l\n```\n\nx');
  });

  it.each([
    '',
    'no markup',
    '<p>unclosed <b>bold',
    '</li></ul></pre></ac:parameter>',
    '<ac:plain-text-body><![CDATA[---\nkey: x',
    '<pre><pre>a</pre>',
    '<script>---</script>',
    '&#0;&#xD800;&nosuch;',
    `${'<ul><li>'.repeat(3_000)}x`,
    `${'<b>'.repeat(20_000)}x`,
  ])('that is rubbish is no skill, and no fault: %#', (html) => {
    const text = skillFileOf(html);
    expect(text.isWellFormed()).toBe(true);
    expect(text).not.toContain('\u0000');
    expect(readSkillFile(text).skill).toBeNull();
  });

  // Each takes minutes where its cost grows with the square of the page.
  it.each([
    ['paragraphs', '<p>word &amp; word</p>'.repeat(100_000)],
    ['cells', `<tr>${'<td>word word word</td>'.repeat(150_000)}</tr>`],
    ['nesting', '<ul><li>x'.repeat(300_000)],
  ])('of megabytes is read at once: %s', (_, html) => {
    expect(readSkillFile(skillFileOf(html)).skill).toBeNull();
  });
});
