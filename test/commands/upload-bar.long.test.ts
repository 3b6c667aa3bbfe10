import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, truncate, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { programs } from "../support/programs.ts";
import { photoForAll } from "./printed-images.ts";
import { BIN, serveForAll } from "./served.ts";

const site = serveForAll();
photoForAll(site);

const IN_TERMINAL = "import os,pty,sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
/** More than the sockets of this machine buffer, so that the bar stops below its end. */
const LARGE_BYTES = 20 * 1024 ** 2;
const BAR = /\r␛\[Koutrigger: \[#*\.+\] \S+ \S+ left, [\d.]+ \S+ of 20 MiB, (\d) of (\d) files/;
const COLOUR = /␛\[[\d;]*m/;

/** Runs the command in a pseudo-terminal of this width. What it shows has ␛ for an escape character. */
function inTerminal(args: readonly string[], { columns = 100, env = {} } = {}) {
  const command = ["sh", "-c", `stty cols ${columns} && exec "$0" "$@"`, process.execPath, BIN, ...args];
  const child = spawn(programs.psdPython, ["-c", IN_TERMINAL, ...command], {
    cwd: site.cwd(),
    env: { PATH: process.env.PATH ?? "", TERM: "xterm", XDG_STATE_HOME: join(site.cwd(), "state"), ...env },
    stdio: "pipe",
  });
  let shown = "";
  const shows = (pattern: RegExp) =>
    new Promise<void>((resolve) => {
      const look = () => pattern.test(shown) && resolve();
      child.stdout.on("data", look);
      look();
    });
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text.replaceAll("\u001b", "␛");
  });
  const ended = once(child, "close").then(([code]) => ({ code, shown }));
  return { shows, ended, type: (text: string) => child.stdin.write(text) };
}

function accept(response: ServerResponse, id: string): void {
  const url = `https://example.com/${id}`;
  const image = {
    id,
    status: "ready",
    url,
    editUrl: `${url}/edit?pin=0123456789ABCDEF`,
    pin: "0123456789ABCDEF",
  };
  const facts = { name: "a.png", type: "image/png", size: 1, width: 1, height: 1, expiresAt: null };
  response.writeHead(201, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ ...image, ...facts }));
}

/** A service without resumable uploads. It accepts small files at once, and keeps large ones waiting. */
async function holdingService() {
  const held: (() => void)[] = [];
  let isReleased = false;
  const url = await site.instead((request, response) => {
    if (request.url?.includes("/api/uploads")) return void response.writeHead(404).end();
    const isLarge = Number(request.headers["content-length"]) > LARGE_BYTES;
    const take = () =>
      void request
        .resume()
        .on("end", () => accept(response, `${isLarge ? "large" : "small"}-image-0123456789`));
    if (isLarge && !isReleased) held.push(take);
    else take();
  });
  /** The bar may be shown before its request has arrived. */
  const release = () => {
    isReleased = true;
    for (const take of held) take();
  };
  await writeFile(join(site.cwd(), "large.png"), "");
  await truncate(join(site.cwd(), "large.png"), LARGE_BYTES);
  return { url, release };
}

describe("upload in a terminal", () => {
  it.each([{}, { NO_COLOR: "1" }])(
    "upload shows a bar with the time left and no colours, and erases it before the result, with %o",
    async (env) => {
      const { url, release } = await holdingService();
      const { shows, ended } = inTerminal(["upload", "large.png", "--to", url], { env });
      await shows(BAR);
      release();
      const { code, shown } = await ended;
      expect(code).toBe(0);
      expect(shown).not.toMatch(COLOUR);
      const [, result = ""] = /^[\s\S]*files\r␛\[K([\s\S]*)$/.exec(shown) ?? [];
      expect(result).toMatch(
        /^a\.png .*\r\nPage [^\r]*\r\nImage [^\r]*\r\nEdit [^\r]*\r\nExpires {2}never\r\n$/,
      );
    },
  );

  it("upload cuts the bar at the width of the terminal, so that it never wraps", async () => {
    const { url, release } = await holdingService();
    const { shows, ended } = inTerminal(["upload", "large.png", "--to", url], { columns: 30 });
    await shows(/outrigger: \[#/);
    release();
    const lines = (await ended).shown.split(/\r␛\[K/).filter((line) => line.startsWith("outrigger: ["));
    expect(lines.map((line) => line.length)).toEqual(lines.map(() => 30));
  });

  it("upload shows the bar in a terminal that does not tell its width", async () => {
    const { url, release } = await holdingService();
    const { shows, ended } = inTerminal(["upload", "large.png", "--to", url], { columns: 0 });
    await shows(BAR);
    release();
    expect((await ended).code).toBe(0);
  });

  it("Ctrl-C erases the bar, and the list of own uploads has each finished image whole", async () => {
    const { url } = await holdingService();
    const { shows, ended, type } = inTerminal(["upload", "photo.png", "large.png", "--to", url]);
    await shows(/1 of 2 files/);
    type("\u0003");
    const { code, shown } = await ended;
    expect(code).toBe(130);
    expect(shown).toMatch(/files(?:\^C)?\r␛\[Koutrigger: Stopped\r\n$/);
    const list = await readFile(join(site.cwd(), "state", "outrigger", "uploads.ndjson"), "utf8");
    expect(
      list
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    ).toEqual([
      {
        url: "https://example.com/small-image-0123456789",
        editUrl: "https://example.com/small-image-0123456789/edit?pin=0123456789ABCDEF",
        name: "a.png",
        expiresAt: null,
        service: url,
      },
    ]);
  });

  it("upload in a terminal called dumb prints plain lines only", async () => {
    const { code, shown } = await inTerminal(["upload", "photo.png", "--print", "url", "--to", site.url()], {
      env: { TERM: "dumb" },
    }).ended;
    expect([code, shown]).toEqual([0, expect.stringMatching(/^http\S+[\w-]{22}\r\n$/)]);
  });
});

it("serve in a terminal logs lines for people", async () => {
  const { shows, ended, type } = inTerminal(["serve", "--port", "0", "--data", "terminal"]);
  await shows(/Outrigger listens on/);
  type("\u0003");
  const { code, shown } = await ended;
  expect(code).toBe(0);
  expect(shown).toMatch(/^\d\d:\d\d:\d\d\.\d{3} (?:INFO|WARN) /m);
  expect(shown).not.toContain('{"level"');
});
