import type { VerificationRow } from "../../contracts/verification-queue.ts";
import type { ListedVerification } from "../answers.ts";

/** The fields of a result besides the address, in the order of columns. */
export const RESULT_FIELDS = [
  "result",
  "status",
  "score",
  "regexp",
  "gibberish",
  "disposable",
  "alias",
  "webmail",
  "mx_records",
  "smtp_server",
  "smtp_check",
  "accept_all",
  "block",
  "reason",
  "suggestion",
] as const satisfies readonly Exclude<keyof Extract<ListedVerification, { regexp: boolean }>, "email">[];

const UNFINISHED = { result: null, status: null, score: null } as const;

/** The result of a row that the account's allowance did not cover. */
export const NOT_PAID = JSON.stringify({ ...UNFINISHED, status: "not_paid" });
/** The result of a row whose owner opted out, or whose data was erased. */
export const CLAIMED = JSON.stringify({ ...UNFINISHED, status: "claimed" });

/** The text that the queue stores. The address is stored beside it. */
export function storedResult(result: ListedVerification): string {
  const { email: _, ...others } = result;
  return JSON.stringify(others);
}

/** A row as the API sends it. */
export function listedRow({ email, result }: VerificationRow): ListedVerification {
  if (result === null) return { ...UNFINISHED, email };
  const { result: verdict, status, score, ...others } = JSON.parse(result); // Written by this module.
  return { result: verdict, status, score, email, ...others };
}
