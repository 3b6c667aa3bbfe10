import assert from "node:assert/strict";
import type { ErrorCode } from "@outrigger/core";

/** A literal instead of an import: it stands for a copy of core that shares no class with the tested copy. */
const BRAND = Symbol.for("@outrigger/ServiceError");

/**
 * A `ServiceError` as another copy of core in the same process creates it: same brand and code, another
 * class.
 */
export function foreignError(code: ErrorCode): Error {
  const error = Object.assign(new Error(`Another copy of core says ${code}.`), {
    code,
    retryAfterMs: undefined,
  });
  return Object.defineProperty(error, BRAND, { value: true });
}

/**
 * Asserts that another copy of core recognises the error of `work`, and that it has a message and a stack.
 */
export async function assertRecognised(work: () => Promise<unknown>, code: ErrorCode): Promise<void> {
  await assert.rejects(work, (error) => {
    // That copy checks only the brand and the code.
    assert.ok(
      error instanceof Object && BRAND in error && "code" in error && error.code === code,
      `another copy of core does not recognise ${String(error)} as ${code}`,
    );
    assert.ok("message" in error && error.message !== "");
    return true;
  });
}
