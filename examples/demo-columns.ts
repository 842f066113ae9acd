const WIDE =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}\u3000-\u303f\uff01-\uff60]/u;
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Columns that a text takes on a terminal, emoji and East Asian characters counted twice. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += WIDE.test(segment) && !/^\d/.test(segment) ? 2 : 1;
  return width;
}

/** Lines of at most `width` columns, broken at blanks where there are any; further lines of a bullet are indented. */
export function wrapped(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => wrappedLine(line, Math.max(10, width)));
}

/** Two texts beside each other, each under its title, in `width` columns. */
export function beside(left: Column, right: Column, width: number): string {
  const half = Math.floor((width - 3) / 2);
  const rows = [left, right].map(({ title, text }) => [title, '─'.repeat(half), ...wrapped(text, half)]);
  const [first = [], second = []] = rows;
  const lines = Array.from({ length: Math.max(first.length, second.length) }, (_none, index) => {
    const cell = first[index] ?? '';
    return `${cell}${' '.repeat(Math.max(0, half - displayWidth(cell)))} │ ${second[index] ?? ''}`.trimEnd();
  });
  return lines.join('\n');
}

export interface Column {
  title: string;
  text: string;
}

function wrappedLine(line: string, width: number): string[] {
  const indent = /^\s*(?:[-*•] |\d+\. )?/.exec(line)?.[0].length ?? 0;
  const rows: string[] = [];
  let row = '';
  const push = (): void => {
    rows.push(row.trimEnd());
    row = ' '.repeat(indent);
  };
  for (const word of line.split(/(?<= )/)) {
    if (displayWidth(row + word.trimEnd()) > width && row.trim() !== '') push();
    for (const { segment } of segmenter.segment(word)) {
      if (displayWidth(row + segment) > width && segment !== ' ') push();
      row += segment;
    }
  }
  return [...rows, row.trimEnd()];
}
