import { afterEach, expect, test, vi } from "vitest";
import { startHeartbeat } from "./heartbeat.ts";
import { createInTurn } from "./in-turn.ts";

afterEach(() => void vi.useRealTimers());

test("a heartbeat calls renew at its interval, also after a failure, until it is stopped", async () => {
  vi.useFakeTimers();
  const errors: unknown[] = [];
  const lost = new Error("lost");
  const renew = vi.fn(async () => {
    if (renew.mock.calls.length === 2) throw lost;
  });
  const stop = startHeartbeat(1000, renew, (error) => errors.push(error));
  await vi.advanceTimersByTimeAsync(3500);
  expect(renew).toHaveBeenCalledTimes(3);
  expect(errors).toEqual([lost]);
  stop();
  await vi.advanceTimersByTimeAsync(5000);
  expect(renew).toHaveBeenCalledTimes(3);
});

test("queued work begins when the work before it has settled, also after a failure", async () => {
  const inTurn = createInTurn();
  const events: string[] = [];
  const work = (name: string, failure?: Error) => async () => {
    events.push(`${name} begins`);
    await new Promise(setImmediate);
    events.push(`${name} ends`);
    if (failure !== undefined) throw failure;
    return name;
  };
  const results = await Promise.allSettled([
    inTurn(work("first")),
    inTurn(work("second", new Error("second"))),
    inTurn(work("third")),
  ]);
  expect(events).toEqual(["first", "second", "third"].flatMap((name) => [`${name} begins`, `${name} ends`]));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});
