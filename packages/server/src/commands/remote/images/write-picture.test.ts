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

it("writePicture writes a file under its own name, or into a given directory", async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, "pictures"));
  const place = await placeOf(join(directory, "pictures"), "a.png", false);
  expect(place.path).toBe(join(directory, "pictures", "a.png"));
  expect(await writePicture(place, picture(), never)).toBe(6);
  expect(await readFile(place.path, "utf8")).toBe("onetwo");
  expect(await readdir(join(directory, "pictures"))).toEqual(["a.png"]);
});

it("placeOf rejects an existing file without force", async () => {
  const path = join(await temporaryDirectory(), "a.png");
  await writeFile(path, "before");
  await expect(placeOf(path, "b.png", false)).rejects.toThrow("already exists; --force replaces it");
  await writePicture(await placeOf(path, "b.png", true), picture(), never);
  expect(await readFile(path, "utf8")).toBe("onetwo");
});

it("writePicture keeps a file that appeared during the download", async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, "a.png");
  const place = await placeOf(path, "a.png", false);
  await writeFile(path, "another file");
  await expect(writePicture(place, picture(), never)).rejects.toThrow("already exists");
  expect(await readFile(path, "utf8")).toBe("another file");
  expect(await readdir(directory)).toEqual(["a.png"]);
});

it("writePicture leaves no partial file and keeps the old one if the download breaks off", async () => {
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

it("writePicture names the path that cannot be written", async () => {
  const place = await placeOf(join(await temporaryDirectory(), "none", "a.png"), "", false);
  await expect(writePicture(place, picture(), never)).rejects.toThrow(
    "a.png cannot be written: there is no such file or directory",
  );
  // /dev/full has no space, and no directory for temporary files.
  const full = await placeOf("/dev/full", "", false);
  await expect(writePicture(full, picture(), never)).rejects.toThrow(
    "/dev/full cannot be written: there is no space left",
  );
});
