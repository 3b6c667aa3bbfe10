import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfigFile } from "./config-file.ts";
import { settingsOf } from "./settings.ts";

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="2"/>';
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-config-"));
  await mkdir(join(directory, "marks"));
  await writeFile(join(directory, "marks", "logo.svg"), SVG);
  await writeFile(join(directory, "marks", "notes.txt"), "notes");
});
afterAll(() => rm(directory, { recursive: true }));

async function read(image: unknown, name = "some.json") {
  const config = { images: { presets: { marked: { resize: "80x", watermark: { image, at: "north" } } } } };
  const path = join(directory, name);
  const text = JSON.stringify(config);
  await writeFile(path, name.endsWith(".mjs") ? `export default ${text}` : text);
  return readConfigFile(path);
}

describe("the watermark of a preset in a configuration file", () => {
  it("is read from a path below the directory of the file, or from an absolute path", async () => {
    for (const image of [
      "marks/logo.svg",
      "./marks/../marks/logo.svg",
      join(directory, "marks", "logo.svg"),
    ]) {
      for (const name of ["some.json", "some.mjs"]) {
        const config = await read(image, name);
        const watermark = { image: Buffer.from(SVG), at: "north" };
        expect(config.images?.presets).toEqual({ marked: { resize: "80x", watermark } });
        expect(settingsOf(config).images?.presets?.marked?.watermark?.image).toEqual(Buffer.from(SVG));
      }
    }
  });

  it.each([
    ["marks/none.png", /\nimages\.presets\.marked\.watermark\.image: cannot be read: ENOENT.*none\.png/],
    ["marks", /\nimages\.presets\.marked\.watermark\.image: cannot be read: EISDIR/],
    ["marks/notes.txt", /\nimages\.presets\.marked\.watermark\.image: must be a PNG, a JPEG or an SVG$/],
    ["", /\nimages\.presets\.marked\.watermark\.image: must be the path or the bytes of an image$/],
    [5, /\nimages\.presets\.marked\.watermark\.image: must be the path or the bytes of an image$/],
  ])("as %j is a ConfigError that names the key", async (image, message) => {
    await expect(read(image)).rejects.toThrow(expect.objectContaining({ name: "ConfigError" }));
    await expect(read(image)).rejects.toThrow(message);
  });
});
