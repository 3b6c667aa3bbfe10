import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CLIENT_RULES, clientSettings } from "./client-options.ts";
import { OutriggerError } from "./outrigger-error.ts";
import { delayMs, request, type Sending, waitFor } from "./request.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A status, or a status with `Retry-After`; 0 stands for no reply. */
type Step = number | [number, string];

/** Sends a request to a service with these steps; returns the result, the number of steps used and the time. */
async function run(steps: Step[], rules: Partial<Sending> = {}, maxRetries = 4) {
  let taken = 0;
  const settings = clientSettings(
    "test",
    {
      baseUrl: "https://example.com",
      maxRetries,
      async fetch() {
        const [status, retryAfter] = [steps[taken++] ?? 200].flat() as [number, string?];
        if (status === 0) throw new Error("cut");
        return new Response("No hush", {
          status,
          headers: retryAfter === undefined ? {} : { "Retry-After": retryAfter },
        });
      },
    },
    CLIENT_RULES,
  );
  const began = Date.now();
  const expected = [200, 201, 404, 409, 410, 429, 500, 502, 503];
  const outcome = request(settings, { url: "https://example.com/a", expected, ...rules }).then(
    ({ status, mayBeDone }) => ({ status, mayBeDone }),
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
  [
    [0, 0, 0, 0, 0, 200],
    {
      error: expect.objectContaining({ detail: "No complete reply from https://example.com: cut" }),
      taken: 5,
    },
  ],
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

test("a reply of an unexpected status rejects without the secrets that it quotes", async () => {
  const error = expect.objectContaining({ status: 404, detail: "No …" });
  expect(await run([404], { expected: [200], secrets: ["hush"] })).toMatchObject({ error, taken: 1 });
});

test("without Retry-After, delayMs doubles with each try up to 30 s, and half of it is random", () => {
  for (const [tries, most] of [
    [1, 500],
    [2, 1000],
    [3, 2000],
    [4, 4000],
    [20, 30_000],
    [2000, 30_000],
  ] as const) {
    const waits = Array.from({ length: 200 }, () => delayMs(null, tries));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(most / 2);
    expect(Math.max(...waits)).toBeLessThanOrEqual(most);
    expect(new Set(waits).size).toBeGreaterThan(100);
  }
});

test("delayMs is never shorter than Retry-After, and at most 1 s longer", () => {
  for (const asked of [0, 1000, 5000, 60_000]) {
    const waits = Array.from({ length: 200 }, () => delayMs(asked, 1));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(Math.max(100, asked));
    expect(Math.max(...waits)).toBeLessThanOrEqual(Math.max(100, asked) + Math.min(1000, asked / 10));
  }
});

describe("waitFor", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("resolves after its time and removes its listener from the signal", async () => {
    const { signal } = new AbortController();
    const remove = vi.spyOn(signal, "removeEventListener");
    const wait = waitFor(1000, signal);
    await vi.advanceTimersByTimeAsync(999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    await wait;
    expect(remove).toHaveBeenCalledOnce();
  });

  test("rejects with the reason as soon as the signal aborts", async () => {
    const abort = new AbortController();
    const reason = new Error("enough");
    const wait = waitFor(1000, abort.signal);
    abort.abort(reason);
    await expect(wait).rejects.toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
    await expect(waitFor(1000, abort.signal)).rejects.toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
  });
});
