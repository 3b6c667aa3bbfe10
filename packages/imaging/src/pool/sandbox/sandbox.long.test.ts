import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createRenderer } from "@outrigger/imaging";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { inBubblewrap } from "../start-process.ts";

type Attempt = (typeof COLUMNS)[number][1];
type Results = Record<string, Record<Attempt, boolean> | { failure: string }>;

/** Columns of the table in docs/security.md, each with the attempt that tries it. */
const COLUMNS = [
  ["the app's memory and environment", "host"],
  ["data files", "data"],
  ["other files", "files"],
  ["network", "network"],
  ["other programs", "programs"],
  ["signals", "signals"],
] as const;
const ROWS = ["bubblewrap", "none (JavaScript)", "none (native code)"];

const root = new URL("../../../", import.meta.url);
let results: Results;

async function attemptAll(...args: string[]): Promise<Results> {
  const script = fileURLToPath(new URL("test/sandbox-host.mjs", root));
  const env = { ...process.env, SANDBOX_CANARY: "canary-5309" };
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], { env });
  return JSON.parse(stdout);
}

beforeAll(async () => {
  results = await attemptAll();
  for (const [level, result] of Object.entries(results)) {
    if ("failure" in result) console.log(`The level ${level} does not work here: ${result.failure}`);
  }
});

/** The strongest level that works here. */
const strongest = () => ("failure" in (results.bubblewrap ?? {}) ? "none" : "bubblewrap");

/** Cells of the table in docs/security.md by level and column. */
function documented(): Map<string, Record<string, string>> {
  const text = readFileSync(new URL("../../docs/security.md", root), "utf8");
  const lines = text.split("\n");
  const first = lines.findIndex((line) => /^\| level\s/.test(line));
  const cellsOf = (line: string) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
  const [, ...columns] = cellsOf(lines[first] ?? "");
  const rows = lines.slice(first + 2, lines.indexOf("", first)).map(cellsOf);
  return new Map(
    rows.map(([level = "", ...cells]) => [
      level,
      Object.fromEntries(cells.map((cell, index) => [columns[index], cell])),
    ]),
  );
}

test("docs/security.md has a row for each level and a column for each attempt", () => {
  expect([...documented().keys()]).toEqual(ROWS);
  for (const cells of documented().values()) {
    expect(Object.keys(cells)).toEqual(COLUMNS.map(([column]) => column));
  }
});

describe.runIf(process.platform === "linux")("a worker that a picture has taken over", () => {
  test("reaches everything at level none as native code, so the attempts work", () => {
    expect(new Set(Object.values(results["none (native code)"] ?? {}))).toEqual(new Set([true]));
  });

  test.each(ROWS)("reaches at level %s exactly what docs/security.md says, where the level works", (row) => {
    const result = results[row];
    expect(result).toBeDefined();
    if (result === undefined || "failure" in result) return;
    const expected = Object.fromEntries(
      COLUMNS.map(([column, attempt]) => [column, result[attempt] ? "open" : "withheld"]),
    );
    expect(documented().get(row)).toEqual(expected);
  });

  test("is as confined at each level when it runs in the Node of the option, which may be anywhere", async () => {
    const directory = await mkdtemp(join(tmpdir(), "other-node-"));
    try {
      const node = join(directory, "node");
      await copyFile(process.execPath, node);
      expect(await attemptAll(node)).toEqual(results);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test("is as confined where HOME is not set, as under a service manager", async () => {
    const script = `
      import { createRenderer } from ${JSON.stringify(new URL("../../../dist/index.js", import.meta.url))};
      const renderer = createRenderer({ workers: 1, timeoutMs: 60_000 });
      const source = { bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>') };
      await renderer.render(source, "image/svg+xml", { format: "png" });
      console.log(renderer.sandbox.level);
      await renderer.close();`;
    for (const env of [{}, { HOME: "" }]) {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ["--input-type=module", "--eval", script],
        { env: { PATH: process.env.PATH, ...env } },
      );
      expect(stdout.trim()).toBe(strongest());
    }
  });

  test("is as confined by the default renderer as by the strongest level that works here", async () => {
    const renderer = createRenderer({ workers: 1, timeoutMs: 60_000 });
    try {
      expect(renderer.sandbox).toBeNull();
      const source = { bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>') };
      await renderer.render(source, "image/svg+xml", { format: "png" });
      expect(renderer.sandbox?.level).toBe(strongest());
    } finally {
      await renderer.close();
    }
  });

  test("does not start with sandbox required where bubblewrap does not work, and the cause of the error names the reason", async () => {
    vi.stubEnv("PATH", "/there/are/no/programs");
    const renderer = createRenderer({ workers: 1, sandbox: "required", timeoutMs: 60_000 });
    try {
      const source = { bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>') };
      await expect(renderer.render(source, "image/svg+xml", { format: "png" })).rejects.toMatchObject({
        code: "not_implemented",
        cause: {
          message: expect.stringMatching(/bubblewrap: .*bwrap.*not found/),
        },
      });
      expect(renderer.sandbox).toBeNull();
    } finally {
      vi.unstubAllEnvs();
      await renderer.close();
    }
  });

  test("finds no file of the host changed by the start of bubblewrap, even if a path to show is a link", async () => {
    const directory = await mkdtemp(join(tmpdir(), "visible-"));
    try {
      const target = join(directory, "target");
      await writeFile(target, "content");
      await mkdir(join(directory, "shown"));
      const link = join(directory, "shown", "link");
      await symlink(target, link);
      const [command = "", ...args] = inBubblewrap(["/bin/true"], {
        paths: [
          { path: join(directory, "shown"), from: join(directory, "shown"), isDirectory: true },
          { path: link, from: target, isDirectory: false },
        ],
        links: [],
      });
      await promisify(execFile)(command, args).catch(() => undefined);
      expect(await readFile(target, "utf8")).toBe("content");
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
