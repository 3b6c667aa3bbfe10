import { PassThrough } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { timeText } from "../../cli/amounts.ts";
import { showCopy } from "./show-progress.ts";

/** The output to a stream of this kind. */
function watched(isTTY: boolean) {
  const output = new PassThrough();
  let text = "";
  output.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  // The members of a terminal that the progress display uses.
  const stream = Object.assign(output, { isTTY, columns: 120 }) as unknown as NodeJS.WriteStream;
  return { stream, text: () => text };
}

describe("showCopy", () => {
  it("changes one line on a terminal", () => {
    vi.useFakeTimers();
    try {
      const { stream, text } = watched(true);
      const view = showCopy(false, stream);
      view.update({ phase: "originals", keys: 0, totalKeys: 40, bytes: 0 });
      vi.advanceTimersByTime(1_000);
      view.update({ phase: "originals", keys: 10, totalKeys: 40, bytes: 2_500_000 });
      vi.advanceTimersByTime(1_000);
      view.close();
      expect(text()).toContain("\r\u001b[Koutrigger: originals: 10 of 40 keys, 2.5 MB, ");
      expect(text()).not.toContain("\n");
    } finally {
      vi.useRealTimers();
    }
  });

  it("writes a line every five seconds to any other stream", () => {
    vi.useFakeTimers();
    try {
      const { stream, text } = watched(false);
      const view = showCopy(false, stream);
      const progress = { phase: "counting", keys: 0, totalKeys: 0, bytes: 0 } as const;
      view.update(progress);
      vi.advanceTimersByTime(5_000);
      view.update({ ...progress, phase: "records", keys: 10, totalKeys: 40, bytes: 2_500_000 });
      vi.advanceTimersByTime(5_000);
      view.close();
      vi.advanceTimersByTime(60_000);
      const [first, second, ...rest] = text().split("\n");
      expect(first).toBe("outrigger: counting: 0 of 0 keys, 0 B, 0 keys/s, 0 B/s");
      expect(second).toMatch(
        /^outrigger: records: 10 of 40 keys, 2\.5 MB, 1 keys\/s, 250\.0 kB\/s, 30 s left$/,
      );
      expect(rest).toEqual([""]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("showCopy with JSON", () => {
  it("writes lines with the rates of the last 30 s and the estimated rest, also to a terminal", () => {
    vi.useFakeTimers();
    try {
      const { stream, text } = watched(true);
      const view = showCopy(true, stream);
      const at = (keys: number) =>
        ({ phase: "originals", keys, totalKeys: 10_000, bytes: keys * 100 }) as const;
      for (const keys of [50, 100, 150, 200, 250, 300, 800, 1300, 1800, 2300, 2800, 3300, 3800]) {
        view.update(at(keys));
        vi.advanceTimersByTime(5_000);
      }
      view.close();
      const lines = text().trimEnd().split("\n");
      expect(JSON.parse(lines[0] ?? "")).toEqual({
        ...{ phase: "originals", keys: 50, totalKeys: 10_000, bytes: 5_000 },
        ...{ keysPerSecond: 10, bytesPerSecond: 1000, secondsLeft: 995 },
      });
      expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({
        ...{ keys: 3800, keysPerSecond: 100, bytesPerSecond: 10_000, secondsLeft: 62 },
      });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("timeText", () => {
  it.each([
    [0.2, "1 s"],
    [99, "99 s"],
    [150, "3 min"],
    [9000, "2.5 h"],
  ])("shows %d seconds as %s", (seconds, text) => {
    expect(timeText(seconds)).toBe(text);
  });
});
