import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { createSite, eventually } from "../../../test/image-site.ts";
import { namingRenderer } from "../../../test/library-site.ts";
import { imageOn } from "../../../test/read-site.ts";
import type { PictureEdits } from "../../contracts/picture-edits.ts";
import type { OriginalType, RenditionSpec } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import { editsOf, type PictureEditOptions } from "./edit-options.ts";
import type { ReadParameters } from "./read-parameters.ts";
import { chooseRendition } from "./read-request.ts";

const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="4" height="2"/>');
const jpeg = { type: "image/jpeg" as OriginalType, width: 400, height: 300, pages: 1, size: 1 };
const NUMBER = "a number from";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-edits-"));
});
afterAll(() => rm(directory, { recursive: true }));

function edits(options: PictureEditOptions): PictureEdits {
  const found = editsOf("presets.a", options);
  if (found === undefined) throw new Error("There are no edits");
  return found;
}

describe("createImages", () => {
  const marked = (watermark: object) => ({ watermark });
  const BYTES = "must be a PNG, a JPEG or an SVG";
  test.each([
    [{ rotate: 45 }, "rotate must be 90, 180 or 270, not 45"],
    [{ rotate: "90" }, 'rotate must be 90, 180 or 270, not "90"'],
    [marked({}), "watermark.image is required: the path or the bytes of an image"],
    [marked({ image: "" }), 'watermark.image must be the path or the bytes of an image, not ""'],
    [marked({ image: 5 }), "watermark.image must be the path or the bytes of an image, not 5"],
    [marked({ image: Buffer.from("GIF89a") }), `watermark.image ${BYTES}`],
    [marked({ image: Buffer.alloc(0) }), `watermark.image ${BYTES}`],
    [marked({ image: Buffer.alloc(1024 ** 2 + 1) }), "watermark.image must have at most 1 MiB"],
    [marked({ image: PNG, width: 0 }), `watermark.width must be ${NUMBER} 0.01 to 1, not 0`],
    [marked({ image: PNG, opacity: 2 }), `watermark.opacity must be ${NUMBER} 0.01 to 1, not 2`],
    [marked({ image: PNG, margin: 0.5 }), `watermark.margin must be ${NUMBER} 0 to 0.4, not 0.5`],
    [
      marked({ image: PNG, at: "southeast" }),
      'watermark.at must be one of center, north, north-east, east, south-east, south, south-west, west, north-west, not "southeast"',
    ],
  ])("throws a TypeError for the preset %j", (preset, message) => {
    const options = { presets: { a: preset } };
    expect(() => createSite(options as never)).toThrow(new TypeError(`createImages: presets.a.${message}`));
  });

  test("reads the file of a watermark, and throws a TypeError for one that it cannot use", async () => {
    const [logo, text, none] = ["logo.svg", "notes.txt", "none.png"].map((name) => join(directory, name));
    await Promise.all([writeFile(String(logo), SVG), writeFile(String(text), "notes")]);
    const create = (image = "") => createSite({ presets: { a: { watermark: { image } } } });
    expect(() => create(logo)).not.toThrow();
    expect(() => create(text)).toThrow(new TypeError(`createImages: presets.a.watermark.image ${BYTES}`));
    expect(() => create(none)).toThrow(
      /^createImages: presets\.a\.watermark\.image cannot be read: ENOENT.*none\.png/,
    );
    expect(edits({ watermark: { image: String(logo) } }).watermark).toEqual({
      ...{ image: SVG.toString("base64"), type: "image/svg+xml" },
      ...{ at: "south-east", width: 0.25, opacity: 1, margin: 0.03 },
    });
  });

  test("reports a watermark that the renderer cannot draw, and nothing for a renderer that is busy", async () => {
    const presets = { plain: { page: 1 }, marked: { watermark: { image: PNG } } };
    for (const [code, expected] of [
      ["unsupported_media", ["presets.marked.watermark.image cannot be drawn: no picture"]],
      ["overloaded", []],
    ] as const) {
      const renderer = namingRenderer();
      let asked = 0;
      renderer.onRender = () => {
        asked++;
        throw new ServiceError(code, "no picture");
      };
      const site = createSite({ presets, renderer });
      await eventually(() => expect(asked).toBe(1));
      // After everything that the rejection has caused.
      await setImmediate();
      expect(site.errors.map((error) => (error as Error).message)).toEqual(expected);
    }
  });
});

describe("the edits of a preset", () => {
  test("have a digest that depends on each of them, and on the bytes of the watermark", () => {
    const watermark = { image: SVG };
    const all: PictureEditOptions[] = [
      ...([{ rotate: 90 }, { rotate: 270 }, { watermark }] as const),
      { watermark: { image: Buffer.concat([SVG, Buffer.from(" ")]) } },
      ...([{ at: "north" }, { width: 0.5 }, { opacity: 0.5 }, { margin: 0 }] as const).map((more) => ({
        watermark: { ...watermark, ...more },
      })),
    ];
    const digests = all.map((each) => edits(each).digest);
    expect(new Set(digests).size).toBe(all.length);
    expect(digests.every((digest) => /^[0-9a-f]{16}$/.test(digest))).toBe(true);
    const defaults = { at: "south-east", width: 0.25, opacity: 1, margin: 0.03 } as const;
    expect(edits({ watermark: { ...watermark, ...defaults } }).digest).toBe(edits({ watermark }).digest);
    expect(edits({ watermark: { image: new Uint8Array(SVG) } }).digest).toBe(edits({ watermark }).digest);
  });

  test("are absent where an option changes nothing", () => {
    expect(editsOf("presets.a", {})).toBeUndefined();
  });
});

describe("the rendition of edits", () => {
  const choose = (format: RenditionSpec["format"], parameters: ReadParameters, record = jpeg) =>
    chooseRendition(record, format, parameters, () => null);

  test("is never the original", () => {
    const turned = edits({ rotate: 180 });
    expect(choose("jpg", { edits: turned })).toEqual({ format: "jpg", quality: "high", edits: turned });
  });

  test("has the box before a quarter turn", () => {
    for (const [rotate, box] of [
      [90, { maxWidth: 20, maxHeight: 100 }],
      [180, { maxWidth: 100, maxHeight: 20 }],
      [270, { maxWidth: 20, maxHeight: 100 }],
    ] as const) {
      const turned = edits({ rotate });
      const parameters = { maxWidth: 100, maxHeight: 20, edits: turned };
      expect(choose("png", parameters)).toEqual({ format: "png", ...box, edits: turned });
    }
    const turned = edits({ rotate: 90 });
    expect(choose("png", { maxWidth: 100, edits: turned })).toEqual({
      format: "png",
      maxHeight: 100,
      edits: turned,
    });
  });

  test("is of the first page of a PDF unless another is asked for", () => {
    const turned = edits({ rotate: 180 });
    const pdf = { ...jpeg, type: "application/pdf" as const, pages: 3 };
    expect(choose("pdf", { edits: turned }, pdf)).toEqual({ format: "pdf", edits: turned });
    expect(choose("pdf", { page: 1, edits: turned }, pdf)).toEqual({ format: "pdf", edits: turned });
    expect(choose("pdf", { page: 2, edits: turned }, pdf)).toEqual({ format: "pdf", page: 2, edits: turned });
  });
});

describe("a request", () => {
  const image = (rest: Buffer) => ({ a: { watermark: { image: rest } } });

  test("gets edits from a preset only, in every mode of sizes", async () => {
    for (const sizes of ["any", "steps", "signed"] as const) {
      const { get, at } = await imageOn({
        renderer: namingRenderer(),
        sizes,
        presets: { a: { rotate: 180 } },
      });
      const { status, text } = await get(at("png?preset=a"));
      expect([sizes, status]).toEqual([sizes, 200]);
      expect(JSON.parse(text)).toEqual({ format: "png", edits: edits({ rotate: 180 }) });
    }
    const { get, at } = await imageOn({ renderer: namingRenderer() });
    const free = await get(at("gif?rotate=90&edits=1&watermark=a"));
    expect(JSON.parse(free.text)).toEqual({ format: "gif" });
  });

  test("gets another ETag once the watermark is another", async () => {
    const renderer = namingRenderer();
    const { get, at, site } = await imageOn({ renderer, presets: image(PNG) });
    const first = await get(at("png?preset=a"));
    const same = site.another({ renderer, presets: image(PNG) });
    const other = site.another({ renderer, presets: image(SVG) });
    const ask = (from: typeof site) =>
      from.send("GET", at("png"), {
        search: "preset=a",
        headers: { "if-none-match": String(first.headers.ETag) },
      });
    expect((await ask(same)).status).toBe(304);
    const changed = await ask(other);
    expect(changed.status).toBe(200);
    expect(changed.headers.ETag).not.toBe(first.headers.ETag);
  });
});
