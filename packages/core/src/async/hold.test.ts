import { afterEach, expect, test, vi } from "vitest";
import { Hold } from "./hold.ts";

afterEach(() => void vi.useRealTimers());

test("a hold renews three times in its time, also after a failure, until it is stopped", async () => {
  vi.useFakeTimers();
  const errors: unknown[] = [];
  const failure = new Error("no answer");
  const renew = vi.fn(async () => {
    if (renew.mock.calls.length === 2) throw failure;
    return true;
  });
  const hold = new Hold({ heldMs: 3000, renew, onError: (error) => errors.push(error) });
  await vi.advanceTimersByTimeAsync(3500);
  expect(renew).toHaveBeenCalledTimes(3);
  expect(errors).toEqual([failure]);
  hold.stop();
  await vi.advanceTimersByTimeAsync(5000);
  expect(renew).toHaveBeenCalledTimes(3);
});

test("a hold that is lost reports it once, renews no more and does not run its last write", async () => {
  vi.useFakeTimers();
  const renew = vi.fn(async () => renew.mock.calls.length < 2);
  const onLost = vi.fn();
  const last = vi.fn(async () => true);
  const hold = new Hold({ heldMs: 3000, renew, onLost, onError: () => undefined });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(renew).toHaveBeenCalledTimes(2);
  expect([await hold.renew(), await hold.end(last)]).toEqual([false, false]);
  expect(last).not.toHaveBeenCalled();
  expect(onLost).toHaveBeenCalledTimes(1);
});

test.each([
  ["succeeds", true],
  ["fails", false],
])("the last write of a hold waits for a renewal under way that %s", async (_how, succeeds) => {
  const events: string[] = [];
  const renew = async () => {
    await new Promise(setImmediate);
    events.push("renewed");
    if (!succeeds) throw new Error("no answer");
    return true;
  };
  const hold = new Hold({ heldMs: 3000, renew, onError: () => undefined });
  const renewal = hold.renew().catch(() => null);
  const end = hold.end(async () => {
    events.push("ended");
    return true;
  });
  expect([await renewal, await end]).toEqual([succeeds ? true : null, true]);
  expect(events).toEqual(["renewed", "ended"]);
});
