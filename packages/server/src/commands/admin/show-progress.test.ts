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
  it("shows a bar on a terminal", () => {
    const { stream, text } = watched(true);
    const view = showCopy(stream);
    view.update({ phase: "originals", keys: 0, totalKeys: 40, bytes: 0 });
    view.update({ phase: "originals", keys: 10, totalKeys: 40, bytes: 2_500_000 });
    view.close();
    expect(text()).toContain("25% | 10/40 keys | 2.5 MB | ");
    expect(text()).toContain("originals");
  });

  it("writes a line every five seconds to any other stream", () => {
    vi.useFakeTimers();
    try {
      const { stream, text } = watched(false);
      const view = showCopy(stream);
      const progress = { phase: "counting", keys: 0, totalKeys: 0, bytes: 0 } as const;
      view.update(progress);
      vi.advanceTimersByTime(5_000);
      view.update({ ...progress, phase: "records", keys: 10, totalKeys: 40, bytes: 2_500_000 });
      vi.advanceTimersByTime(5_000);
      view.close();
      vi.advanceTimersByTime(60_000);
      const [first, second, ...rest] = text().split("\n");
      expect(first).toBe("outrigger: counting: 0 of 0 keys, 0 B, 0 B/s");
      expect(second).toMatch(/^outrigger: records: 10 of 40 keys, 2\.5 MB, \S+ kB\/s, \d+ s left$/);
      expect(rest).toEqual([""]);
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
