import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/outrigger-process.ts";
import { askedBy, safeFileName, save } from "./get.ts";

const ID = "Yk3fPq0bT1mVxR8aZ2cLdw";

it.each([
  [
    `https://example.com/img/api/images/${ID}.jpeg?resize=800x&convert=low`,
    "jpg",
    { resize: "800x", convert: "low" },
  ],
  [`https://example.com/api/images/${ID}.webp?convert=auto`, "webp", { convert: "auto" }],
  [`https://example.com/api/images/${ID}.pdf?page=3`, "pdf", { page: "3" }],
  [`https://example.com/api/images/${ID}.json`, undefined, {}],
  [
    `https://example.com/api/images/${ID}.png?preset=thumb&until=5&s=aB`,
    "png",
    { preset: "thumb", s: "aB", until: "5" },
  ],
  [`https://example.com/api/images/${ID}.png?page=0`, "png", { page: "0" }],
  [ID, undefined, {}],
])("askedBy reads format and options from %s", (address, format, options) => {
  expect(askedBy(address)).toEqual({ format, options });
});

it.each([
  ["photo.jpg", "photo.jpg"],
  ["Überraschung 🎉.png", "Überraschung 🎉.png"],
  ["../../etc/passwd", "passwd"],
  ["/etc/cron.d/job.png", "job.png"],
  ["C:\\Windows\\system.ini", "system.ini"],
  ["a/../../b/..", "otherwise"],
  ["..", "otherwise"],
  [".", "otherwise"],
  ["", "otherwise"],
  ["///", "otherwise"],
  [".bashrc", "bashrc"],
  ["-rf", "_rf"],
  ["photo.jpg. . ", "photo.jpg"],
  ['a<b>c:"d|e?f*.png', "a_b_c__d_e_f_.png"],
  ["a\u0000b\u001b[31m\n.png", "a_b_[31m_.png"],
  ["gnp.\u202Eexe.png", "gnp._exe.png"],
  ["CON", "_CON"],
  ["nul.png", "_nul.png"],
  ["console.png", "console.png"],
])("safeFileName turns %j into %j", (name, kept) => {
  expect(safeFileName(name, "otherwise")).toBe(kept);
});

it("safeFileName cuts a long name before its suffix and between characters", () => {
  const name = safeFileName(`${"ü🎉".repeat(100)}.jpeg`, "otherwise");
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
  expect(Buffer.byteLength(name)).toBeGreaterThan(190);
  expect(name).toMatch(/^(?:ü🎉)+ü?\.jpeg$/);
});

const never = new AbortController().signal;

async function* picture(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("one");
  yield Buffer.from("two");
}

it("save replaces an existing file only with force", async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, "a.png");
  await writeFile(path, "before");
  await expect(save(picture(), path, false, never)).rejects.toThrow("already exists; --force replaces it");
  expect(await readFile(path, "utf8")).toBe("before");
  expect(await save(picture(), path, true, never)).toBe(6);
  expect(await readFile(path, "utf8")).toBe("onetwo");
  expect(await readdir(directory)).toEqual(["a.png"]);
});

it("save keeps a file that appeared during the download", async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, "a.png");
  async function* slow(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("one");
    await writeFile(path, "another file");
  }
  await expect(save(slow(), path, false, never)).rejects.toThrow("already exists");
  expect(await readFile(path, "utf8")).toBe("another file");
  expect(await readdir(directory)).toEqual(["a.png"]);
});

it("save leaves no partial file and keeps the old one if the download breaks off", async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, "a.png");
  await writeFile(path, "before");
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("one");
    throw new Error("cut off");
  }
  await expect(save(broken(), path, true, never)).rejects.toThrow("cut off");
  const stopped = new AbortController();
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) {
      yield Buffer.from("one");
      stopped.abort();
    }
  }
  await expect(save(endless(), path, true, stopped.signal)).rejects.toThrow("aborted");
  expect(await readFile(path, "utf8")).toBe("before");
  expect(await readdir(directory)).toEqual(["a.png"]);
});

it("save names the path that cannot be written", async () => {
  const path = join(await temporaryDirectory(), "none", "a.png");
  await expect(save(picture(), path, false, never)).rejects.toThrow(
    "a.png cannot be written: there is no such file or directory",
  );
});
