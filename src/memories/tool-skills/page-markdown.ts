import { storableText } from '../../platform/text/storable-text.js';
import { readMarkup, UNREAD } from '../knowledge/page-markup.js';

const VERBATIM = new Set(['pre', 'ac:plain-text-body']);
const MARKS: Readonly<Record<string, string>> = { strong: '**', b: '**', em: '*', i: '*', code: '`' };
const INLINE = new Set('a abbr br del font ins mark s small span sub sup time u wbr'.split(' '));

interface PageBlock {
  text: string;
  /** Items of a list stand without a blank line between them. */
  item: boolean;
  /** Holds a code block as it was written. */
  code: boolean;
}

/**
 * The skill file that a page holds, in HTML or in Confluence's storage format: all of its first code block where that is
 * a whole file; else the code block's frontmatter and the rest of the page as Markdown; else the page as Markdown.
 * Never throws: what is no markup is text.
 */
export function skillFileOf(html: string): string {
  const blocks = blocksOf(html);
  const file = blocks.find(({ code, text }) => code && /^\s*---[ \t]*\n/.test(text));
  if (!file) return joined(blocks);
  const [, , body = ''] = /^\s*---[ \t]*\n([^]*?)\n---[ \t]*(?:\n|$)([^]*)$/.exec(file.text) ?? [];
  if (body.trim() !== '') return file.text;
  return `${file.text.trim()}\n${joined(blocks.filter((block) => block !== file))}`;
}

function joined(blocks: readonly PageBlock[]): string {
  return blocks.reduce((text, block, index) => {
    if (index === 0) return textOf(block);
    const tight = block.item && blocks[index - 1]!.item;
    return `${text}${tight ? '\n' : '\n\n'}${textOf(block)}`;
  }, '');
}

function textOf({ text, code }: PageBlock): string {
  return code ? `\`\`\`\n${text.replace(/\n$/, '')}\n\`\`\`` : text;
}

function blocksOf(html: string): PageBlock[] {
  const writer = new BlockWriter();
  readMarkup(html, {
    onopentag: (name, attributes) => writer.onopentag(name, attributes),
    ontext: (data) => writer.ontext(data),
    onclosetag: (name) => writer.onclosetag(name),
  });
  writer.endBlock();
  return writer.blocks;
}

/** What the parser meets, as blocks of Markdown. */
class BlockWriter {
  readonly blocks: PageBlock[] = [];
  private text = '';
  /** Whether the text says nothing yet; to look at all of it at each cell costs a copy of it each time. */
  private blank = true;
  private unread = 0;
  private verbatim = 0;
  /** Numbers of the lists that are open; null for one without. */
  private readonly lists: (number | null)[] = [];
  private links: string[] = [];
  /** Before the next block: `## `, or the mark of a list's item. */
  private lead = '';

  onopentag(name: string, attributes: Record<string, string>): void {
    if (UNREAD.has(name)) this.unread += 1;
    if (this.unread > 0) return;
    if (VERBATIM.has(name)) {
      if (this.verbatim === 0) this.endBlock();
      this.verbatim += 1;
    }
    if (this.verbatim > 0) return;
    if (name === 'a') this.openLink(attributes.href ?? '');
    else if (name === 'br') this.write('\n');
    else if (MARKS[name] !== undefined) this.write(MARKS[name]);
    else if (name === 'td' || name === 'th') this.write(this.blank ? '' : ' | ');
    else if (!INLINE.has(name)) this.openBlock(name, attributes);
  }

  ontext(data: string): void {
    if (this.unread > 0) return;
    this.write(this.verbatim > 0 ? data : data.replace(/[\s\u00A0]+/g, ' '));
  }

  onclosetag(name: string): void {
    if (UNREAD.has(name)) this.unread = Math.max(0, this.unread - 1);
    else if (this.unread > 0) return;
    else if (VERBATIM.has(name)) this.closeVerbatim();
    else if (this.verbatim > 0) return;
    else if (name === 'a') this.write(this.links.pop() ?? '');
    else if (MARKS[name] !== undefined) this.write(MARKS[name]);
    else if (!INLINE.has(name) && name !== 'td' && name !== 'th') this.closeBlock(name);
  }

  endBlock(): void {
    const lines = this.text.split('\n').map((line) => line.replace(/[ \t]+/g, ' ').trim());
    const text = lines.join('\n').trim();
    this.clear();
    if (text === '') return;
    const indent = '  '.repeat(Math.max(0, this.lists.length - 1));
    const item = this.lists.length > 0;
    const before = this.lead === '' && item ? `${indent}  ` : `${indent}${this.lead}`;
    this.blocks.push({ text: `${before}${text}`, item, code: false });
    this.lead = '';
  }

  private write(text: string): void {
    this.text += text;
    this.blank &&= text.trim() === '';
  }

  private clear(): void {
    this.text = '';
    this.blank = true;
  }

  private openBlock(name: string, attributes: Record<string, string>): void {
    this.endBlock();
    const heading = /^h([1-6])$/.exec(name);
    if (heading) this.lead = `${'#'.repeat(Number(heading[1]))} `;
    if (name === 'hr') this.blocks.push({ text: '---', item: false, code: false });
    if (name === 'ul') this.lists.push(null);
    if (name === 'ol') this.lists.push(Number.parseInt(attributes.start ?? '1', 10) || 1);
    if (name === 'li') this.lead = this.nextMark();
  }

  private closeBlock(name: string): void {
    this.endBlock();
    if (name === 'ul' || name === 'ol') this.lists.pop();
    if (name === 'li' || /^h[1-6]$/.test(name)) this.lead = '';
  }

  private nextMark(): string {
    const number = this.lists.at(-1) ?? null;
    if (number === null) return '- ';
    this.lists[this.lists.length - 1] = number + 1;
    return `${number}. `;
  }

  private openLink(address: string): void {
    const shown = /^https?:\/\//.test(address);
    if (shown) this.write('[');
    this.links.push(shown ? `](${address})` : '');
  }

  private closeVerbatim(): void {
    this.verbatim = Math.max(0, this.verbatim - 1);
    if (this.verbatim > 0) return;
    const text = storableText(this.text)
      .replace(/\r\n?/g, '\n')
      .replace(/\u00A0/g, ' ');
    this.clear();
    if (text.trim() !== '') this.blocks.push({ text, item: false, code: true });
  }
}
