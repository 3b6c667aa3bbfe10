import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const SCRIPT = fileURLToPath(new URL("support/other-realm.mjs", import.meta.url));

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-realm-"));
});
afterAll(() => rm(directory, { recursive: true }));

test("a service within node:vm, as in Jest, recognises Node's errors although its own Error is another", async () => {
  const args = ["--no-warnings", "--experimental-vm-modules", SCRIPT, directory];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  // Created, unknown, read, removed, gone.
  expect(JSON.parse(stdout)).toEqual({ isOther: true, statuses: [201, 404, 200, 204, 410], failures: [] });
});
