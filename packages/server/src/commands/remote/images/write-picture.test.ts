import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../../../test/outrigger-process.ts";
import { placeOf, writePicture } from "./write-picture.ts";

const never = new AbortController().signal;

async function* picture(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("one");
  yield Buffer.from("two");
}

it("writes a file under its own name, or in a directory that is named", async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, "pictures"));
  const place = await placeOf(join(directory, "pictures"), "a.png", false);
  expect(place.path).toBe(join(directory, "pictures", "a.png"));
  expect(await writePicture(place, picture(), never)).toBe(6);
  expect(await readFile(place.path, "utf8")).toBe("onetwo");
  expect(await readdir(join(directory, "pictures"))).toEqual(["a.png"]);
});

it("replaces a file only by force", async () => {
  const path = join(await temporaryDirectory(), "a.png");
  await writeFile(path, "before");
  await expect(placeOf(path, "b.png", false)).rejects.toThrow("is there already; --force replaces it");
  await writePicture(await placeOf(path, "b.png", true), picture(), never);
  expect(await readFile(path, "utf8")).toBe("onetwo");
});

it("leaves alone what was put there while it read", async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, "a.png");
  const place = await placeOf(path, "a.png", false);
  await writeFile(path, "somebody else's");
  await expect(writePicture(place, picture(), never)).rejects.toThrow("is there already");
  expect(await readFile(path, "utf8")).toBe("somebody else's");
  expect(await readdir(directory)).toEqual(["a.png"]);
});

it("leaves nothing of what breaks off, and keeps what it was to replace", async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, "a.png");
  await writeFile(path, "before");
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("one");
    throw new Error("cut off");
  }
  await expect(writePicture(await placeOf(path, "", true), broken(), never)).rejects.toThrow("cut off");
  const stopped = new AbortController();
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) {
      yield Buffer.from("one");
      stopped.abort();
    }
  }
  const place = await placeOf(path, "", true);
  await expect(writePicture(place, endless(), stopped.signal)).rejects.toThrow("aborted");
  expect(await readFile(path, "utf8")).toBe("before");
  expect(await readdir(directory)).toEqual(["a.png"]);
});

it("says where it cannot write", async () => {
  const place = await placeOf(join(await temporaryDirectory(), "none", "a.png"), "", false);
  await expect(writePicture(place, picture(), never)).rejects.toThrow("a.png cannot be written: ENOENT");
  // A device has no space, and no beside.
  const full = await placeOf("/dev/full", "", false);
  await expect(writePicture(full, picture(), never)).rejects.toThrow("/dev/full cannot be written: ENOSPC");
});
