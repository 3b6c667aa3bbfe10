import { describe, expect, it } from "vitest";
import { prettyLine } from "./logger.ts";

describe("prettyLine", () => {
  it("formats a line of JSON for people", () => {
    const time = Date.UTC(2030, 0, 1, 12, 34, 56, 789);
    expect(prettyLine(JSON.stringify({ level: 30, time, status: 200, msg: "answered" }))).toBe(
      '12:34:56.789 INFO answered {"status":200}\n',
    );
    expect(
      prettyLine(JSON.stringify({ level: 60, time, err: { stack: "Error: x\n    at y" }, msg: "ended" })),
    ).toBe("12:34:56.789 FATAL ended\nError: x\n    at y\n");
    const hostile = { level: 20, time, agent: "\u009b2J", err: { stack: "Error: \u001b[2J\n    at y" } };
    expect(prettyLine(JSON.stringify(hostile))).toBe(
      '12:34:56.789 DEBUG  {"agent":"\\u009b2J"}\nError: \\u001b[2J\n    at y\n',
    );
  });
});
