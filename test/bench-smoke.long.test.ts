import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const ROWS = [
  ...["hot", "not-modified", "originals", "cold", "cold-remote", "auto", "documents"],
  ...[
    "intermediate",
    "flight",
    "latency",
    "uploads",
    "memory",
    "hostile",
    "fairness",
    "spray",
    "sweep",
    "upgrade",
  ],
  ...["lookup", "backends-hot", "start"],
];

test("the benchmark runs, and every candidate produces the output that is measured", async () => {
  const run = fileURLToPath(new URL("../bench/run.mjs", import.meta.url));
  // Every answer is checked there: a wrong status, length or byte ends it with another code, which rejects.
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [run, "--smoke"]);
  expect(stderr).toBe("");
  const done = [...stdout.matchAll(/^([a-z-]+): (\d+) answers as they should be, (\d+) lines,/gm)];
  expect(done.map(([, row]) => row)).toEqual(ROWS);
  for (const [, row, checked, lines] of done) {
    expect(Number(checked), `answers checked in ${row}`).toBeGreaterThan(0);
    expect(Number(lines), `lines of ${row}`).toBeGreaterThan(0);
  }
}, 600_000);

test("the benchmark refuses unknown arguments", async () => {
  const run = fileURLToPath(new URL("../bench/run.mjs", import.meta.url));
  await expect(promisify(execFile)(process.execPath, [run, "--only", "nothing"])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--only takes one of hot,"),
  });
});
