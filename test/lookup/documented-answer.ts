import assert from "node:assert/strict";
import type { Answer } from "./ask.ts";
import * as documented from "./documented-fields.ts";

export const OPERATIONS = [
  "domain-search",
  "email-finder",
  "email-verifier",
  "email-count",
  "account",
] as const;
export type OperationName = (typeof OPERATIONS)[number];

const DATA: Record<OperationName, readonly string[]> = {
  "domain-search": documented.SEARCH_DATA,
  "email-finder": documented.FINDER_DATA,
  "email-verifier": documented.VERIFIER_DATA,
  "email-count": documented.COUNT_DATA,
  account: documented.ACCOUNT_DATA,
};

/** The possible errors of a request with a valid key, whatever its parameters. */
const REFUSALS: ReadonlyMap<number, readonly string[]> = new Map([
  [
    400,
    [
      ...["wrong_params", "invalid_type", "invalid_seniority", "invalid_department", "pagination_error"],
      ...["invalid_domain", "invalid_first_name", "invalid_last_name", "invalid_full_name", "invalid_email"],
      "invalid_max_duration",
    ],
  ],
  [401, ["authentication_failed"]],
  [404, ["not_found"]],
  [451, ["claimed_email"]],
]);

/**
 * Fails if a reply is not in the documented form: matching status and body, every field of the data, and parameters
 * that are text, integers or `null`. Networks are named `linkedin` and `twitter`.
 */
export function requireDocumented(operation: OperationName, { status, body }: Answer, label: string): void {
  if (status === 200 || status === 202) {
    assert.deepEqual(Object.keys(body), ["data", "meta"], label);
    const { data = {}, meta = {} } = body;
    const pending = ["result", "status", "score", "email"];
    for (const field of status === 202 ? pending : DATA[operation])
      assert.ok(field in data, `${label}: ${field}`);
    const params: unknown = meta.params;
    assert.ok(typeof params === "object" && params !== null, label);
    for (const value of Object.values(params)) {
      assert.ok(
        value === null || typeof value === "string" || Number.isSafeInteger(value),
        `${label}: ${value}`,
      );
    }
    if (operation === "domain-search") {
      for (const field of ["results", "limit", "offset"]) assert.ok(Number.isSafeInteger(meta[field]), label);
    }
    return;
  }
  const ids = REFUSALS.get(status);
  assert.ok(ids, `${label}: ${status} ${JSON.stringify(body)}`);
  assert.deepEqual(Object.keys(body), ["errors"], label);
  assert.equal(body.errors?.length, 1, label);
  const [error] = body.errors ?? [];
  assert.deepEqual(Object.keys(error ?? {}), ["id", "code", "details"], label);
  assert.ok(error !== undefined && ids.includes(error.id), `${label}: ${error?.id}`);
  assert.equal(error.code, status, label);
  assert.ok(typeof error.details === "string" && error.details !== "", label);
}
