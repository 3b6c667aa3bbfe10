const HTTP_DATE = /^[A-Z][a-z]{2,8}, .+ GMT$/;

/**
 * `Retry-After` in milliseconds from the reply: whole seconds or an HTTP date. A date is compared with `Date` of the reply if
 * readable, so that wrong clocks do not matter. `null` for a missing or invalid header.
 */
export function parseRetryAfter(headers: Headers, nowMs: number): number | null {
  const text = headers.get("Retry-After")?.trim() ?? "";
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000;
  if (!HTTP_DATE.test(text)) return null;
  const untilMs = Date.parse(text);
  const repliedMs = Date.parse(headers.get("Date") ?? "");
  if (Number.isNaN(untilMs)) return null;
  return Math.max(0, untilMs - (Number.isNaN(repliedMs) ? nowMs : repliedMs));
}
