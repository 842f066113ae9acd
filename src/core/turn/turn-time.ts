const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/**
 * For a model that is asked for absolute dates: in the zone that the turn engine wrote the time in, e.g.
 * `2023-05-24 (Wednesday) 23:30 +09:00`.
 */
export function turnTime(instant: string): string {
  const zone = /(Z|[+-]\d{2}:\d{2})$/.exec(instant)?.[1] ?? 'Z';
  const sign = zone.startsWith('-') ? -1 : 1;
  const [hours, minutes] = zone === 'Z' ? [0, 0] : zone.slice(1).split(':').map(Number);
  const local = new Date(Date.parse(instant) + sign * (hours! * 60 + minutes!) * 60_000);
  const text = local.toISOString();
  return `${text.slice(0, 10)} (${WEEKDAYS[local.getUTCDay()]}) ${text.slice(11, 16)} ${zone === 'Z' ? 'UTC' : zone}`;
}
