import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../test/outrigger-process.ts";
import { writeAtomically, writeOnce } from "./write-file.ts";

async function* picture(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("one");
  yield Buffer.from("two");
}

it("writeAtomically replaces an existing file only if asked to", async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, "a.png");
  await writeFile(path, "before");
  await expect(writeAtomically(path, picture(), false)).rejects.toThrow(
    "a.png cannot be written: it already exists",
  );
  expect(await readFile(path, "utf8")).toBe("before");
  await writeAtomically(path, picture());
  expect(await readFile(path, "utf8")).toBe("onetwo");
  expect(await readdir(directory)).toEqual(["a.png"]);
});

it("writeAtomically keeps a file that appeared during the download", async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, "a.png");
  async function* slow(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("one");
    await writeFile(path, "another file");
  }
  await expect(writeAtomically(path, slow(), false)).rejects.toThrow("it already exists");
  expect(await readFile(path, "utf8")).toBe("another file");
  expect(await readdir(directory)).toEqual(["a.png"]);
});

it("writeAtomically leaves no partial file and keeps the old one if the download breaks off", async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, "a.png");
  await writeFile(path, "before");
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("one");
    throw new Error("cut off");
  }
  await expect(writeAtomically(path, broken())).rejects.toThrow("cut off");
  expect(await readFile(path, "utf8")).toBe("before");
  expect(await readdir(directory)).toEqual(["a.png"]);
});

it("writeAtomically rejects with the error of its content, also with a system error", async () => {
  const fault = Object.assign(new Error("EIO: i/o error, read"), { code: "EIO", syscall: "read" });
  async function* unreadable(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("one");
    throw fault;
  }
  await expect(writeAtomically(join(await temporaryDirectory(), "a.png"), unreadable())).rejects.toBe(fault);
});

it("writeAtomically names the path that cannot be written", async () => {
  const path = join(await temporaryDirectory(), "none", "a.png");
  await expect(writeAtomically(path, picture(), false)).rejects.toThrow(
    "a.png cannot be written: there is no such file or directory",
  );
});

it("writeAtomically writes a file that only its owner can read", async () => {
  const path = join(await temporaryDirectory(), "a.png");
  await writeAtomically(path, picture());
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

it("writeOnce keeps an equal file and rejects another", async () => {
  const path = join(await temporaryDirectory(), "secret");
  await writeOnce(path, Buffer.from("one"));
  await writeOnce(path, Buffer.from("one"));
  await expect(writeOnce(path, Buffer.from("two"))).rejects.toThrow("it already exists");
  expect(await readFile(path, "utf8")).toBe("one");
});
