import { type DueEntry, isDueEntry, isDueListName, isDueQuery } from "../contracts/due-index.ts";
import { ServiceError } from "../errors.ts";

const TIME_DIGITS = 9;
const NAME = /^([0-9a-z]{9})\.([A-Za-z0-9_-]{1,64})$/;

/** The entry as a name, which sorts by time. Throws `bad_request` for what is none. */
export function dueName(entry: DueEntry): string {
  if (!isDueEntry(entry)) throw new ServiceError("bad_request", "Not an entry of a due index");
  return `${entry.dueMs.toString(36).padStart(TIME_DIGITS, "0")}.${entry.id}`;
}

/** The entry that a name stands for; `null` for any other name. */
export function parseDueName(name: string): DueEntry | null {
  const [, time, id] = NAME.exec(name) ?? [];
  return time === undefined || id === undefined ? null : { id, dueMs: Number.parseInt(time, 36) };
}

/** Throws `bad_request` for a list's name that is none. */
export function checkDueList(list: string): void {
  if (!isDueListName(list)) throw new ServiceError("bad_request", "Not a list of a due index");
}

/** Throws `bad_request` for what cannot be asked. */
export function checkDueQuery(untilMs: number, limit: number): void {
  if (!isDueQuery(untilMs, limit)) {
    throw new ServiceError("bad_request", "What is due is asked for by a time, and for 1 to 1000 entries");
  }
}
