/** Files that hold keys; the public half of a pair is none. */
const KEY_FILE =
  /(?:\.ssh\/id_[a-z0-9]{1,20}(?!\.pub|[a-z0-9])|\.aws\/credentials|\.env\b|\/etc\/shadow\b|\.netrc\b)/giu;
const SENDER = /\b(?:curl|wget|nc|ncat|Invoke-WebRequest)\b/iu;
/** What hands a file to the command before it: right before its path. */
const HANDED_OVER = /(?:@|<|--post-file[= ]|-T\s?|\|\s?)\s?["']?(?:~|\$HOME)?[\w./-]{0,60}$/iu;
const PIPED_ON = /^["']?\s?\|/u;

/** UTF-16 code units of a command line before and behind the name of the file. */
const BEFORE = 260;
const BEHIND = 90;

/** Whether a command line ships a key file off; naming the file or the command alone is harmless. */
export function shipsKeyFile(text: string): boolean {
  for (const { index, 0: file } of text.matchAll(KEY_FILE)) {
    const before = lastLine(text.slice(Math.max(0, index - BEFORE), index));
    if (SENDER.test(before) && HANDED_OVER.test(before)) return true;
    const behind = text.slice(index + file.length, index + file.length + BEHIND).split('\n')[0] ?? '';
    if (PIPED_ON.test(behind) && SENDER.test(behind)) return true;
  }
  return false;
}

function lastLine(text: string): string {
  return text.slice(text.lastIndexOf('\n') + 1);
}
