import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  jpeg,
  outrigger,
  serve,
  temporaryDirectory,
  uploaded,
} from "../packages/server/test/outrigger-process.ts";
import { freePort } from "./support/listen.ts";

// Each starts the command several times, and that a render process.
/** Code points, hexadecimal, that a font for the script has. */
const CODE_POINTS = {
  Latin: ["52", "151"],
  Greek: ["3a8", "3bb"],
  Cyrillic: ["416", "434"],
  Arabic: ["628", "639"],
  Hebrew: ["5d0", "5e9"],
  Devanagari: ["915", "92e"],
  Thai: ["e01", "e02"],
  Chinese: ["7b80", "9ad4"],
  Japanese: ["3042", "30ab"],
  Korean: ["d55c", "ae00"],
  emoji: ["1f600", "1f389"],
};

interface DoctorReport {
  ok: boolean;
  findings: { check: string; status: string; detail: string; remedy?: string }[];
}

async function doctor(cwd: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  const { exit, output } = outrigger(["doctor", ...args], { cwd, env });
  return { status: await exit, ...output };
}

/** An environment in which no font can be found. */
async function withoutFonts(directory: string): Promise<Record<string, string>> {
  const file = join(directory, "fonts.conf");
  await writeFile(file, "<fontconfig/>");
  return { FONTCONFIG_FILE: file };
}

describe("doctor on a healthy machine", () => {
  it("doctor prints one line per check, exits with 0, and leaves no files", async () => {
    const cwd = await temporaryDirectory();
    const { status, stdout, stderr } = await doctor(cwd);
    // As root there is one more line, which check-renderer.test.ts covers.
    const lines = stdout
      .trimEnd()
      .split("\n")
      .filter((line) => !line.startsWith("warning  user: root"));
    expect(lines.slice(0, 18)).toEqual([
      expect.stringMatching(/^ok {7}Node\.js: \d+\.\d+\.\d+ \(20\.19 or newer is needed\)$/),
      expect.stringMatching(/^(?:ok {5}|warning) {2}open files: at most /),
      `ok       data directory: ${join(cwd, "data")}, which can be created`,
      expect.stringMatching(/^(?:ok {5}|warning) {2}free space: \d+ % free/),
      expect.stringMatching(/^(?:ok {5}|warning) {2}free inodes: \d+ % free/),
      "ok       clock of the file system: equal to this machine's",
      "ok       secret: created at the first start",
      "ok       time-outs: as expected",
      expect.stringMatching(/^warning {2}sizes: any client can request any size/),
      "ok       addresses: as expected",
      "ok       renderer: as expected",
      expect.stringMatching(
        /^(?:ok {7}sandbox: (?:bubblewrap|namespaces)|warning {2}sandbox: (?:permissions|none); )/,
      ),
      ...["PNG", "JPEG", "GIF", "SVG", "PSD", "PDF"].map((name) => `ok       ${name}: rendered`),
    ]);
    expect(lines.slice(18)).toHaveLength(1 + Object.keys(CODE_POINTS).length);
    expect(lines).toContain("ok       Latin text: rendered");
    expect([status, stderr]).toEqual([0, ""]);
    expect(await readdir(cwd)).toEqual([]);
  });
  it("doctor runs beside a server on the same data and changes nothing", async () => {
    const cwd = await temporaryDirectory();
    const server = serve(cwd);
    const image = await uploaded(await server.url, await jpeg());
    const before = await contentsOf(join(cwd, "data"));
    const { status, stdout } = await doctor(cwd);
    expect(status).toBe(0);
    expect(stdout).toContain(`data directory: ${join(cwd, "data")}\n`);
    expect(stdout).toContain(`secret: ${join(cwd, "data", "secret")}\n`);
    expect(await contentsOf(join(cwd, "data"))).toEqual(before);
    expect((await fetch(image.url)).status).toBe(200);
  });
});

describe("doctor of a faulty machine", () => {
  it("doctor reports missing fonts and exits with 1", async () => {
    const cwd = await temporaryDirectory();
    const { status, stdout } = await doctor(cwd, [], await withoutFonts(cwd));
    expect(status).toBe(1);
    expect(stdout.match(/^problem.*$/gm)).toEqual([
      "problem  fonts: no font is installed: text in SVG pictures becomes boxes or disappears. " +
        "Install fonts, e.g. with apt-get install fonts-dejavu-core.",
    ]);
  });
});

describe("outrigger doctor with a URL", () => {
  it("doctor leaves no image at outrigger serve, and prints the same findings as text and JSON", async () => {
    const cwd = await temporaryDirectory();
    const server = serve(cwd);
    const url = await server.url;
    const people = await doctor(cwd, [url]);
    const machines = await doctor(cwd, [url, "--json", "--header", "X-Key: 1"]);
    expect([people.status, machines.status, people.stderr, machines.stderr]).toEqual([0, 0, "", ""]);
    const { ok, findings } = JSON.parse(machines.stdout) as DoctorReport; // What is looked at closely here.
    expect(ok).toBe(true);
    expect(findings.map(({ check, status }) => `${status} ${check}`)).toEqual(
      [...people.stdout.matchAll(/^(\w+) +([^:]+):/gm)].map(([, status, check]) => `${status} ${check}`),
    );
    const { exit, output } = outrigger(["images", "list", "--json"], { cwd });
    expect(await exit).toBe(0);
    const states = [...output.stdout.matchAll(/"state":"(\w+)"/g)].map(([, state]) => state);
    expect(new Set(states)).toEqual(new Set(["deleted"]));
  });

  it("doctor exits with 1 if no server listens, and with 2 for an invalid URL", async () => {
    const cwd = await temporaryDirectory();
    const unreachable = await doctor(cwd, [`http://127.0.0.1:${await freePort()}`]);
    expect([unreachable.status, unreachable.stderr]).toEqual([1, ""]);
    expect(unreachable.stdout).toMatch(
      /^problem {2}mount: http:\S+: nothing listens at this address\. Start the app, .*\.\n$/,
    );
    for (const [args, message] of [
      [["example.com/img"], "URL: must be an absolute http(s) URL"],
      [["https://e.example", "--data", "d"], "--data: applies only to this machine, not to a URL"],
      [["--header", "X-Key: 1"], "--header: applies only to a URL, and no URL was given"],
      [["https://e.example", "--header", "secret"], "--header: must be a header such as"],
    ] as const) {
      const { status, stdout, stderr } = await doctor(cwd, args);
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(message);
      expect(stderr).not.toContain("secret");
    }
  });

  it("doctor detects a service without fonts", async () => {
    const cwd = await temporaryDirectory();
    const server = serve(cwd, [], await withoutFonts(cwd));
    const { status, stdout } = await doctor(cwd, [await server.url]);
    expect(stdout.match(/^problem.*$/gm)).toEqual([
      expect.stringContaining(
        "problem  fonts: no font is installed: text in SVG pictures becomes boxes or disappears.",
      ),
    ]);
    expect(status).toBe(1);
  });
});

describe("outrigger serve", () => {
  it("serve logs a warning without fonts and still serves", async () => {
    const cwd = await temporaryDirectory();
    const server = serve(cwd, [], await withoutFonts(cwd));
    const url = await server.url;
    await server.logged("No fonts are installed: text in SVG pictures becomes boxes or disappears.");
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });
});

/** Every path below a directory, with what changes when it is replaced or written. */
async function contentsOf(directory: string): Promise<string[]> {
  const all = await readdir(directory, { recursive: true });
  // A server notes there every minute what time it is.
  const paths = all.filter((path) => !path.startsWith("due/clock")).sort();
  const stats = await Promise.all(paths.map((path) => stat(join(directory, path))));
  return paths.map((path, index) => `${path} ${stats[index]?.ino} ${stats[index]?.size}`);
}
