import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { processName } from "./fs/fs-temporary.ts";
import { sweepSystemTemporary, systemTemporaryDirectory } from "./system-temporary.ts";

const own = mkdtempSync(join(tmpdir(), "outrigger-system-temporary-"));
const elsewhere = join(own, "elsewhere");
let parent: string;

beforeEach(() => {
  parent = mkdtempSync(join(own, "tmp-"));
  vi.stubEnv("TMPDIR", parent);
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, "precious"), "");
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(own, { recursive: true });
  mkdirSync(own);
});

/** The name of a directory whose process has ended: this process's number with another start time. */
const DEAD = `outrigger-${processName().replace(/\d+$/, "1")}.AbCd12`;
/** The name of a directory of a process in another container. */
const FOREIGN = "outrigger-0123456789ab.1.1.AbCd12";

function makeDirectory(name: string): string {
  const path = join(parent, name);
  mkdirSync(path, 0o700);
  writeFileSync(join(path, "upload.part"), "");
  return path;
}

test("the temporary directory is private to this user, stays the same between calls, and is created again if deleted", () => {
  const first = systemTemporaryDirectory();
  expect(first.startsWith(`${parent}/outrigger-${processName()}.`)).toBe(true);
  expect(statSync(first).mode & 0o777).toBe(0o700);
  expect(systemTemporaryDirectory()).toBe(first);
  rmSync(first, { recursive: true });
  const second = systemTemporaryDirectory();
  expect(second).not.toBe(first);
  // Another user may have put a link where a directory was deleted.
  rmSync(second, { recursive: true });
  symlinkSync(elsewhere, second);
  expect(systemTemporaryDirectory()).not.toBe(second);
});

test("a sweep deletes the directories of dead processes, and keeps those in use", () => {
  makeDirectory(DEAD);
  const kept = [`outrigger-${processName()}.AbCd12`, FOREIGN, "outrigger-some-other-thing", "another"];
  for (const name of kept) makeDirectory(name);
  sweepSystemTemporary();
  expect(readdirSync(parent).sort()).toEqual(kept.sort());
});

test("a sweep deletes a directory of another container an hour after its last sign of life", async () => {
  const path = join(parent, FOREIGN);
  mkdirSync(path);
  sweepSystemTemporary();
  expect(readdirSync(parent)).toEqual([FOREIGN]);
  vi.spyOn(Date, "now").mockReturnValue(Date.now() + 3_700_000);
  sweepSystemTemporary();
  expect(readdirSync(parent)).toEqual([]);
});

test("a sweep follows no link, and ignores other users' directories", () => {
  symlinkSync(elsewhere, join(parent, DEAD));
  sweepSystemTemporary();
  rmSync(join(parent, DEAD));
  const inside = makeDirectory(DEAD);
  symlinkSync(elsewhere, join(inside, "link"));
  const uid = process.getuid?.() ?? 0;
  const getuid = vi.spyOn(process, "getuid").mockReturnValue(uid + 1);
  sweepSystemTemporary();
  expect(readdirSync(parent)).toEqual([DEAD]);
  getuid.mockRestore();
  // Any user could exchange directories here, and so redirect a removal.
  chmodSync(parent, 0o777);
  sweepSystemTemporary();
  expect(readdirSync(parent)).toEqual([DEAD]);
  chmodSync(parent, 0o1777);
  sweepSystemTemporary();
  expect(readdirSync(parent)).toEqual([]);
  expect(readdirSync(elsewhere)).toEqual(["precious"]);
});

test("a process that exits normally deletes its temporary directory", async () => {
  const code = `import { systemTemporaryDirectory } from "@outrigger/core/stores"; console.log(systemTemporaryDirectory());`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [made] = await once(child.stdout, "data");
  expect(String(made)).toContain(parent);
  await once(child, "close");
  expect(readdirSync(parent)).toEqual([]);
});

test("an unusable temporary directory rejects with store_unavailable and its error code", () => {
  const file = join(own, "file");
  writeFileSync(file, "");
  vi.stubEnv("TMPDIR", file);
  expect(() => systemTemporaryDirectory()).toThrow(
    expect.objectContaining({ code: "store_unavailable", message: expect.stringContaining("ENOTDIR") }),
  );
});
