import { InvalidArgumentError } from "commander";
import { parseDeleteAfter } from "../../../cli/option-values.ts";

const MINUTE_MS = 60_000;
const UNIT_MS: Readonly<Record<string, number>> = {
  m: MINUTE_MS,
  h: 60 * MINUTE_MS,
  d: 24 * 60 * MINUTE_MS,
  w: 7 * 24 * 60 * MINUTE_MS,
};
/** What JavaScript's dates end at. */
const MAX_DATE_MS = 8.64e15;

/** The time of `--expires`: a while from `now` on, or a date; a date alone stands for its beginning in UTC. */
export function parseExpiry(text: string, now = Date.now()): Date {
  const [, count = "", unit = ""] = /^(\d+)([mhdw])$/.exec(text) ?? [];
  const ms = now + Number(count) * (UNIT_MS[unit] ?? 0);
  if (unit !== "" && ms > now && ms <= MAX_DATE_MS) return new Date(ms);
  if (/^\d{4}-/.test(text)) return parseDeleteAfter(text);
  throw new InvalidArgumentError(
    "It must be a while as 30m, 12h, 7d or 2w, or a date as 2030-01-31 or 2030-01-31T12:00:00Z.",
  );
}
