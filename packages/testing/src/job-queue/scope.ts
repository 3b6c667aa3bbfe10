import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Job } from "@outrigger/core/stores";

/** The tolerated delay on a busy machine. */
const GRACE_MS = 20_000;
const POLL_MS = 20;

/** Jobs with random IDs, oldest first. */
export function someJobs(count: number): Job[] {
  return Array.from({ length: count }, (_, index) => ({
    id: randomBytes(16).toString("base64url"),
    createdAt: 1_700_000_000_000 + index,
  }));
}

export function twoJobs(): [Job, Job] {
  const [first, second] = someJobs(2);
  assert.ok(first !== undefined && second !== undefined);
  return [first, second];
}

/** The jobs sorted by ID, for comparisons. */
export function byId(jobs: readonly Job[]): Job[] {
  return jobs.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** A promise that the test resolves. */
export function createGate(): { opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Resolves when `isSo` holds; fails if it does not in time. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + GRACE_MS;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadlineMs, `the condition did not hold within ${GRACE_MS} ms`);
    await delay(POLL_MS);
  }
}
