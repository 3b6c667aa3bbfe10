import assert from "node:assert/strict";
import type { ErrorCode } from "../errors.ts";

/** Written out, not imported: this stands for a copy of core that shares no class with the one under test. */
const BRAND = Symbol.for("@outrigger/ServiceError");

/** A `ServiceError` as another copy of core in the same process makes it: the same brand and code, another class. */
export function foreignError(code: ErrorCode): Error {
  const error = Object.assign(new Error(`Another copy of core says ${code}.`), {
    code,
    retryAfterMs: undefined,
  });
  return Object.defineProperty(error, BRAND, { value: true });
}

/** Whether another copy of core recognises `error`: it sees the brand and the code alone. */
export function isForeignError(error: unknown, code: ErrorCode): boolean {
  return (
    typeof error === "object" && error !== null && BRAND in error && "code" in error && error.code === code
  );
}

/** Asserts that another copy of core recognises what `work` rejects with, and that a reader gets a message and a stack. */
export async function assertRecognised(work: () => Promise<unknown>, code: ErrorCode): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(isForeignError(error, code), `another copy of core takes ${String(error)} for no ${code}`);
    assert.ok(error instanceof Object && "message" in error && error.message !== "");
    return true;
  });
}
