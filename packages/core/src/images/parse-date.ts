const ISO_8601 =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:Z|[+-](\d{2}):?(\d{2}))$/;

/**
 * A date of a request in Unix milliseconds: an ISO 8601 string with a zone, or, where `allowNumber`, integer Unix
 * milliseconds as a number or as digits. `null` for anything else, calendar nonsense such as 31 February included.
 */
export function parseDate(value: unknown, allowNumber: boolean): number | null {
  if (typeof value === "number") return allowNumber && isTime(value) ? value : null;
  if (typeof value !== "string") return null;
  const text = value.trim();
  if (/^\d{1,16}$/.test(text)) return allowNumber && isTime(Number(text)) ? Number(text) : null;
  const match = ISO_8601.exec(text);
  if (match === null) return null;
  const [, year, month, day] = match.map(Number);
  const lastDay = new Date(Date.UTC(year ?? 0, month ?? 0, 0)).getUTCDate();
  if (day === undefined || day < 1 || day > lastDay) return null;
  const ms = Date.parse(text.replace(",", ".").replace(/([+-]\d{2})(\d{2})$/, "$1:$2"));
  return Number.isNaN(ms) ? null : ms;
}

function isTime(ms: number): boolean {
  return Number.isInteger(ms) && Math.abs(ms) <= 8.64e15;
}
