const DAY_MS = 86_400_000;
const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

const month = `(?:${MONTHS.map((name) => `${name}|${name.slice(0, 3)}\\.?`).join('|')})`;
const patterns = [
  String.raw`\b(?<iso>\d{4}-\d\d-\d\d)\b`,
  String.raw`\b(?<m1>${month}) (?<d1>\d{1,2})(?:st|nd|rd|th)?(?:,? (?<y1>\d{4}))?\b`,
  String.raw`\b(?<d2>\d{1,2})(?:st|nd|rd|th)?\.? (?:of )?(?<m2>${month})(?:,? (?<y2>\d{4}))?\b`,
  String.raw`\b(?:next )?(?<weekday>${WEEKDAYS.join('|')})s?\b`,
  String.raw`\b(?<span>this|next) week\b`,
  String.raw`\bend of (?:the |this )?(?<end>week|month|year)\b`,
  String.raw`\b(?<near>today|tomorrow)\b`,
  String.raw`\bthe (?<day>\d{1,2})(?:st|nd|rd|th)\b`,
];
const dateExpression = new RegExp(patterns.join('|'), 'gi');

export interface FoundDate {
  /** First millisecond of that day, UTC. */
  day: Date;
  index: number;
  /** "this week" and the like: a span that needs a state beside it to mean "until then". */
  vague: boolean;
}

/** Every date that a sentence names, resolved against the day it was said; expressions that resolve to nothing are left out. */
export function datesIn(sentence: string, at: Date): FoundDate[] {
  const found: FoundDate[] = [];
  for (const match of sentence.matchAll(dateExpression)) {
    const day = resolve(match.groups ?? {}, at);
    if (day) found.push({ day, index: match.index, vague: match.groups?.span !== undefined });
  }
  return found;
}

/** Whole days from `at` to the end of `day` (UTC), at least 1 and at most 180. */
export function ttlDays(day: Date, at: Date): number {
  return Math.min(180, Math.max(1, Math.ceil((day.getTime() + DAY_MS - at.getTime()) / DAY_MS)));
}

/** `YYYY-MM-DD` of an instant, UTC. */
export function isoDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}

function resolve(groups: Record<string, string | undefined>, at: Date): Date | null {
  const today = startOfDay(at);
  const weekday = today.getUTCDay();
  const untilSunday = (7 - weekday) % 7;
  if (groups.iso) return valid(new Date(`${groups.iso}T00:00:00Z`));
  const named = groups.m1 ?? groups.m2;
  if (named) return dayOfMonth(today, named, Number(groups.d1 ?? groups.d2), groups.y1 ?? groups.y2);
  if (groups.weekday) {
    const ahead = (WEEKDAYS.indexOf(groups.weekday.toLowerCase()) - weekday + 7) % 7;
    return plusDays(today, ahead === 0 ? 7 : ahead);
  }
  if (groups.span) return plusDays(today, untilSunday + (groups.span.toLowerCase() === 'next' ? 7 : 0));
  if (groups.near) return plusDays(today, groups.near.toLowerCase() === 'tomorrow' ? 1 : 0);
  if (groups.end) return endOf(groups.end.toLowerCase(), today, untilSunday);
  const day = Number(groups.day);
  const offset = day >= today.getUTCDate() ? 0 : 1;
  const date = utc(today.getUTCFullYear(), today.getUTCMonth() + offset, day);
  return date.getUTCDate() === day ? date : null;
}

function endOf(span: string, today: Date, untilSunday: number): Date {
  if (span === 'week') return plusDays(today, untilSunday);
  if (span === 'month') return utc(today.getUTCFullYear(), today.getUTCMonth() + 1, 0);
  return utc(today.getUTCFullYear(), 11, 31);
}

function dayOfMonth(today: Date, name: string, day: number, year: string | undefined): Date | null {
  const index = MONTHS.findIndex((candidate) => candidate.startsWith(name.toLowerCase().slice(0, 3)));
  const date = utc(year ? Number(year) : today.getUTCFullYear(), index, day);
  if (date.getUTCDate() !== day) return null;
  // A day named without its year lies ahead: "until January 8", said in November.
  return !year && date < today ? utc(today.getUTCFullYear() + 1, index, day) : date;
}

function startOfDay(at: Date): Date {
  return utc(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate());
}

function plusDays(date: Date, days: number): Date {
  return new Date(date.getTime() + days * DAY_MS);
}

function utc(year: number, monthIndex: number, day: number): Date {
  return new Date(Date.UTC(year, monthIndex, day));
}

function valid(date: Date): Date | null {
  return Number.isNaN(date.getTime()) ? null : date;
}
