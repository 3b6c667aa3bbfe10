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
import { processName } from "./fs/fs-processes.ts";
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

/** The name of a directory whose process has ended: this one's number, at another time. */
const DEAD = `outrigger-${processName().replace(/\d+$/, "1")}.AbCd12`;
/** Of a process in another container. */
const FOREIGN = "outrigger-0123456789ab.1.1.AbCd12";

function makeDirectory(name: string): string {
  const path = join(parent, name);
  mkdirSync(path, 0o700);
  writeFileSync(join(path, "upload.part"), "");
  return path;
}

test("the directory is this user's alone, the same at every call, and made again where it was removed", () => {
  const first = systemTemporaryDirectory();
  expect(first.startsWith(`${parent}/outrigger-${processName()}.`)).toBe(true);
  expect(statSync(first).mode & 0o777).toBe(0o700);
  expect(systemTemporaryDirectory()).toBe(first);
  rmSync(first, { recursive: true });
  const second = systemTemporaryDirectory();
  expect(second).not.toBe(first);
  // Another user may have put a link in the place of one that was removed.
  rmSync(second, { recursive: true });
  symlinkSync(elsewhere, second);
  expect(systemTemporaryDirectory()).not.toBe(second);
});

test("a sweep removes what dead processes left, and keeps what others use", () => {
  makeDirectory(DEAD);
  const kept = [`outrigger-${processName()}.AbCd12`, FOREIGN, "outrigger-some-other-thing", "another"];
  for (const name of kept) makeDirectory(name);
  sweepSystemTemporary();
  expect(readdirSync(parent).sort()).toEqual(kept.sort());
});

test("a directory of another container goes an hour after its last sign of life", async () => {
  const path = join(parent, FOREIGN);
  mkdirSync(path);
  sweepSystemTemporary();
  expect(readdirSync(parent)).toEqual([FOREIGN]);
  vi.spyOn(Date, "now").mockReturnValue(Date.now() + 3_700_000);
  sweepSystemTemporary();
  expect(readdirSync(parent)).toEqual([]);
});

test("a sweep follows no link, and leaves other users' directories alone", () => {
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
  // Where any user may exchange directories, a removal could be led astray.
  chmodSync(parent, 0o777);
  sweepSystemTemporary();
  expect(readdirSync(parent)).toEqual([DEAD]);
  chmodSync(parent, 0o1777);
  sweepSystemTemporary();
  expect(readdirSync(parent)).toEqual([]);
  expect(readdirSync(elsewhere)).toEqual(["precious"]);
});

test("a process that ends by itself leaves nothing", async () => {
  const code = `import { systemTemporaryDirectory } from "@outrigger/core/stores"; console.log(systemTemporaryDirectory());`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [made] = await once(child.stdout, "data");
  expect(String(made)).toContain(parent);
  await once(child, "close");
  expect(readdirSync(parent)).toEqual([]);
});

test("a temporary directory that cannot be used is said to be so", () => {
  const file = join(own, "file");
  writeFileSync(file, "");
  vi.stubEnv("TMPDIR", file);
  expect(() => systemTemporaryDirectory()).toThrow(
    expect.objectContaining({ code: "store_unavailable", message: expect.stringContaining("ENOTDIR") }),
  );
});
