import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CLIENT_RULES, clientSettings } from "./client-options.ts";
import { OutriggerError } from "./outrigger-error.ts";
import { type RepeatRules, repeat } from "./repeat.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A status, or a status with `Retry-After`; 0 stands for no reply. */
type Step = number | [number, string];

/** Runs the steps; returns the result, the number of steps used and the time. */
async function run(steps: Step[], rules: Partial<RepeatRules> = {}, maxRetries = 4) {
  const settings = clientSettings("test", { baseUrl: "https://example.com", maxRetries }, CLIENT_RULES);
  let taken = 0;
  const began = Date.now();
  const outcome = repeat(settings, { isRepeatable: true, ...rules }, async () => {
    const [status, retryAfter] = [steps[taken++] ?? 200].flat() as [number, string?];
    if (status === 0) return new OutriggerError({ status: 0, title: "No reply", detail: "cut" });
    return { status, headers: new Headers(retryAfter === undefined ? {} : { "Retry-After": retryAfter }) };
  }).then(
    ({ reply, mayBeDone }) => ({ status: reply.status, mayBeDone }),
    (error: unknown) => ({ error }),
  );
  await vi.runAllTimersAsync();
  return { ...(await outcome), taken, tookMs: Date.now() - began };
}

test.each<[Step[], object]>([
  [[200], { status: 200, taken: 1, mayBeDone: false, tookMs: 0 }],
  [[0, 200], { status: 200, taken: 2, mayBeDone: true }],
  [[429, 200], { status: 200, taken: 2, mayBeDone: false }],
  [[503, 410], { status: 410, taken: 2, mayBeDone: true }],
  [[502, 504, 200], { status: 200, taken: 3, mayBeDone: true }],
  [[404, 200], { status: 404, taken: 1 }],
  [[500, 200], { status: 500, taken: 1 }],
  [[[409, "1"], 200], { status: 409, taken: 1 }],
  [[429, 429, 429, 429, 429, 200], { status: 429, taken: 5 }],
  [[0, 0, 0, 0, 0, 200], { error: expect.objectContaining({ detail: "cut" }), taken: 5 }],
  [[[503, "60"], 200], { status: 200, taken: 2 }],
  [[[503, "61"], 200], { status: 503, taken: 1, tookMs: 0 }],
])("a repeatable request runs through %j", async (steps, expected) => {
  expect(await run(steps)).toMatchObject(expected);
});

test.each<[Step[], object]>([
  [[429, 200], { status: 200, taken: 2, mayBeDone: false }],
  [[503, 200], { status: 503, taken: 1 }],
  [[502, 200], { status: 502, taken: 1 }],
  [[0, 200], { error: expect.any(OutriggerError), taken: 1 }],
])("a request that is not repeatable runs through %j", async (steps, expected) => {
  expect(await run(steps, { isRepeatable: false })).toMatchObject(expected);
});

test("maxRetries: 0 sends every request once", async () => {
  for (const step of [0, 429, 503, [409, "1"]] as Step[]) {
    expect(await run([step], { isClaimed: true }, 0)).toMatchObject({ taken: 1 });
  }
});

test("409 of an earlier try in progress is retried beyond maxRetries, up to ten times", async () => {
  const underWay: Step[] = Array.from({ length: 20 }, () => [409, "2"]);
  const outlasted = await run([0, ...underWay.slice(0, 8), 201], { isClaimed: true }, 1);
  expect(outlasted).toMatchObject({ status: 201, taken: 10 });
  expect(outlasted.tookMs).toBeGreaterThanOrEqual(16_000);
  expect(await run(underWay, { isClaimed: true }, 1)).toMatchObject({ status: 409, taken: 11 });
  expect(await run([409, 201], { isClaimed: true })).toMatchObject({ status: 409, taken: 1 });
});

test("an aborted signal stops all tries", async () => {
  const reason = new Error("enough");
  expect(await run([], { signal: AbortSignal.abort(reason) })).toMatchObject({ error: reason, taken: 0 });
});
