import { linkSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemError } from "../../../test/faulty-store.ts";
import { MarkerFiles } from "./fs-files.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "outrigger-empty-"));
});
afterEach(() => rmSync(root, { recursive: true }));

let made = 0;
const newPath = () => join(root, `new-${made++}`);
const inodeOf = (name: string) => statSync(join(root, name)).ino;

test("empty files share an inode, and a replaced file gets another inode", () => {
  const files = new MarkerFiles(root, newPath);
  for (const name of ["a", "b", "c"]) files.create(join(root, name));
  expect(inodeOf("b")).toBe(inodeOf("a"));
  expect(statSync(join(root, "a"))).toMatchObject({ size: 0, nlink: 4 });
  const inodes = new Set([inodeOf("a")]);
  for (let turn = 0; turn < 4; turn++) {
    const before = inodeOf("a");
    files.replace(join(root, "a"));
    expect(inodeOf("a")).not.toBe(before);
    inodes.add(inodeOf("a"));
  }
  expect(inodes.size).toBe(2);
  expect(readdirSync(root).sort()).toEqual(["a", "b", "c", "empty"]);
  expect(() => files.create(join(root, "a"))).toThrow(expect.objectContaining({ code: "EEXIST" }));
  expect(() => files.create(join(root, "none/a"))).toThrow(expect.objectContaining({ code: "ENOENT" }));
});

test("the shared file is renewed when it has reached its maximum number of links", () => {
  let isFull = false;
  const files = new MarkerFiles(root, newPath, (from, to) => {
    if (isFull) {
      isFull = false;
      throw systemError("EMLINK", "link");
    }
    linkSync(from, to);
  });
  files.create(join(root, "a"));
  isFull = true;
  files.create(join(root, "b"));
  files.create(join(root, "c"));
  expect(inodeOf("b")).not.toBe(inodeOf("a"));
  expect(inodeOf("c")).toBe(inodeOf("b"));
});

test("a shared file never has more links than the smallest common file system limit allows", () => {
  const files = new MarkerFiles(root, newPath);
  for (let index = 0; index < 11_000; index++) files.create(join(root, `${index}`));
  expect(statSync(join(root, "0")).nlink).toBeLessThanOrEqual(10_500);
  expect(inodeOf("10999")).not.toBe(inodeOf("0"));
});

test("a shared file that was deleted is created again", () => {
  const files = new MarkerFiles(root, newPath);
  files.create(join(root, "a"));
  rmSync(join(root, "empty"), { recursive: true });
  files.create(join(root, "b"));
  expect(inodeOf("b")).not.toBe(inodeOf("a"));
});

test.each(["EPERM", "EACCES", "ENOTSUP"])(
  "an empty file gets its own inode if linking fails with %s",
  (code) => {
    const files = new MarkerFiles(root, newPath, () => {
      throw systemError(code, "link");
    });
    files.create(join(root, "a"));
    files.create(join(root, "b"));
    expect(inodeOf("b")).not.toBe(inodeOf("a"));
    expect(() => files.create(join(root, "a"))).toThrow(expect.objectContaining({ code: "EEXIST" }));
    const before = inodeOf("a");
    files.replace(join(root, "a"));
    expect(inodeOf("a")).not.toBe(before);
  },
);
