import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { progressLine } from "./progress-line.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function createOutput(isTTY: boolean) {
  const written: string[] = [];
  const output = { isTTY, write: (text: string) => written.push(text) > 0 };
  // The progress line uses only these two members of a stream.
  return { written, output: output as unknown as NodeJS.WriteStream };
}

it("a terminal shows one progress line that is redrawn and finally erased", () => {
  const { written, output } = createOutput(true);
  const line = progressLine(output);
  line.update(() => "1 done");
  line.update(() => "2 done");
  expect(written).toEqual([]);
  vi.advanceTimersByTime(100);
  line.update(() => "3 done");
  vi.advanceTimersByTime(1000);
  line.close();
  expect(written).toEqual(["\r\u001b[Koutrigger: 2 done", "\r\u001b[Koutrigger: 3 done", "\r\u001b[K"]);
  expect(vi.getTimerCount()).toBe(0);
});

it("nothing is shown elsewhere than in a terminal", () => {
  const { written, output } = createOutput(false);
  const line = progressLine(output);
  line.update(() => "1 done");
  vi.advanceTimersByTime(10_000);
  line.close();
  expect(written).toEqual([]);
});
