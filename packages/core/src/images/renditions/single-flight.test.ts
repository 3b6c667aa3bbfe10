import { setMaxListeners } from "node:events";
import { expect, test } from "vitest";
import { SingleFlight } from "./shared-work.ts";

const { signal: stay } = new AbortController();
// One caller has one signal; in this test one signal is shared by many.
setMaxListeners(0, stay);

test("a caller that aborts leaves, and the other callers still get the result", async () => {
  const flights = new SingleFlight<string>();
  const leaving = new AbortController();
  let finish: (value: string) => void = () => {};
  let workSignal: AbortSignal | undefined;
  const work = (signal: AbortSignal) => {
    workSignal = signal;
    return new Promise<string>((resolve) => {
      finish = resolve;
    });
  };
  const first = flights.join("k", leaving.signal, work);
  const second = flights.join("k", stay, work);
  leaving.abort(new Error("left"));
  await expect(first).rejects.toThrow("left");
  expect(workSignal?.aborted).toBe(false);
  finish("done");
  expect(await second).toBe("done");
});

test("work whose last caller leaves is aborted, and the next caller starts new work", async () => {
  const flights = new SingleFlight<string>();
  const leaving = new AbortController();
  let workSignal: AbortSignal | undefined;
  const first = flights.join("k", leaving.signal, (signal) => {
    workSignal = signal;
    return new Promise<string>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  leaving.abort(new Error("left"));
  await expect(first).rejects.toThrow("left");
  expect(workSignal?.aborted).toBe(true);
  expect(await flights.join("k", stay, async () => "fresh")).toBe("fresh");
});
