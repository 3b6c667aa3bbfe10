import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { serve, temporaryDirectory } from "../../../test/outrigger-process.ts";
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

describe("logs of outrigger serve", () => {
  it("do not block the server after their reader has ended", async () => {
    const server = serve(await temporaryDirectory());
    const url = await server.url;
    server.child.stderr?.destroy();
    server.child.stdout?.destroy();
    for (let index = 0; index < 20; index++) expect((await fetch(`${url}/nothing`)).status).toBe(404);
    const ended = once(server.child, "exit");
    server.child.kill("SIGTERM");
    expect((await ended)[0]).toBe(0);
  });
});
