// Nightly: runs the benchmark with small settings.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [
    fileURLToPath(new URL("../bench/run.mjs", import.meta.url)),
    ...args,
  ]);

test.each(["hot", "cold", "pages"])(
  "the benchmark's row %s runs, and its output is checked",
  async (row) => {
    // Every answer is checked there: a wrong status, length or byte ends it with another code, which rejects.
    const { stdout, stderr } = await run("--smoke", "--only", row);
    expect(stderr).toBe("");
    expect(stdout).toMatch(new RegExp(`^${row}: [1-9]\\d* answers as they should be, [1-9]\\d* lines,`, "m"));
  },
  300_000,
);

test("the benchmark refuses unknown arguments", async () => {
  await expect(run("--only", "nothing")).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--only takes one of hot,"),
  });
});
