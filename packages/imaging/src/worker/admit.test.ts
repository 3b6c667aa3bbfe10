import { tmpdir } from "node:os";
import { join } from "node:path";
import { isServiceError } from "@outrigger/core";
import type { OriginalType } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TWO_COMPONENTS } from "../../../../test/fidelity/samples/jpeg.ts";
import { QUARTERS, samplePdf } from "../../../../test/support/pdf-samples.ts";
import { animatedPng } from "../../../../test/support/raster-files.ts";
import { admitInfo } from "../../test/admit-bytes.ts";
import { sparseGif } from "../../test/hostile-gifs.ts";
import { svg } from "../../test/hostile-svgs.ts";
import { animation, CORNERS, cornered, photo, type Rgb } from "../../test/pictures.ts";
import { reasonIn } from "../../test/unreadable.ts";
import { MAX_PIECES } from "../shared/wire.ts";
import { describePieces } from "./admit.ts";
import { writePngChunk } from "./png/png-chunks.ts";

const renderer = createRenderer({ timeoutMs: 60_000 });
let originals: Record<"png" | "interlaced" | "jpeg" | "progressive" | "gif", Buffer>;

beforeAll(async () => {
  const picture = await photo(600, 400);
  originals = {
    png: picture,
    interlaced: await sharp(picture).png({ progressive: true }).toBuffer(),
    jpeg: await sharp(picture).jpeg().toBuffer(),
    progressive: await sharp(picture).jpeg({ progressive: true }).toBuffer(),
    gif: await animation(60, 40, CORNERS.slice(1), { delay: [100, 100, 100], loop: 0 }),
  };
});
afterAll(() => renderer.close());

/** The clause with which an upload is refused as unreadable. Any other outcome is returned as it is. */
async function refusal(bytes: Buffer, type: OriginalType): Promise<unknown> {
  const outcome = await admitInfo(renderer, { bytes }, type).catch((error: unknown) => error);
  if (!isServiceError(outcome, "unsupported_media")) return outcome;
  return reasonIn(outcome.message, type);
}

test("admit measures every kind of raster", async () => {
  const size = { width: 600, height: 400, pages: 1 };
  expect(await admitInfo(renderer, { bytes: originals.png }, "image/png")).toEqual(size);
  expect(await admitInfo(renderer, { bytes: originals.interlaced }, "image/png")).toEqual(size);
  expect(await admitInfo(renderer, { bytes: originals.jpeg }, "image/jpeg")).toEqual(size);
  expect(await admitInfo(renderer, { bytes: originals.progressive }, "image/jpeg")).toEqual(size);
  expect(await admitInfo(renderer, { bytes: originals.gif }, "image/gif")).toEqual({
    width: 60,
    height: 40,
    pages: 3,
  });
});

test("admit reports the upright size of a JPEG and a PNG with each EXIF orientation", async () => {
  const raw = { width: 60, height: 40, channels: 3 } as const;
  for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const stored = sharp(cornered(60, 40), { raw }).withMetadata({ orientation });
    const upright = orientation < 5 ? { width: 60, height: 40 } : { width: 40, height: 60 };
    for (const format of ["jpeg", "png"] as const) {
      const bytes = await stored.clone().toFormat(format).toBuffer();
      const info = await admitInfo(renderer, { bytes }, `image/${format}`);
      expect(info, `${orientation}`).toMatchObject({ ...upright, pages: 1 });
    }
  }
});

test.each([
  ["width and height", 'width="30" height="20"', 30, 20],
  ["a view box only", 'viewBox="0 0 300 200"', 300, 200],
  ["percentages", 'width="100%" height="100%" viewBox="0 0 30 20"', 30, 20],
  ["inches, 72 px each", 'width="2in" height="1in"', 144, 72],
  ["more user units than a raster may have pixels", 'width="20000" height="20000"', 20_000, 20_000],
  ["a shape of a line", 'width="30000" height="1"', 30_000, 1],
  ["more than can be drawn, as large as can be", 'width="1e9" height="5e8"', 32_767, 16_384],
])("admit measures an SVG with %s", async (_, attributes, width, height) => {
  const bytes = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" ${attributes}><path d="M0 0h9v9"/></svg>`,
  );
  expect(await admitInfo(renderer, { bytes }, "image/svg+xml")).toEqual({ width, height, pages: 1 });
});

test("admit accepts an SVG with prolog, long comment and internal entities", async () => {
  const prolog = `\ufeff<?xml version="1.0"?><!--${"x".repeat(3000)}--><!DOCTYPE svg [<!ENTITY ns "urn:x">]>`;
  const bytes = Buffer.from(prolog + svg(10, '<g xmlns:x="&ns;"/>'));
  expect(await admitInfo(renderer, { bytes }, "image/svg+xml")).toMatchObject({ width: 10, height: 10 });
});

test("admit accepts a PDF whose header is not at its start", async () => {
  const pdf = samplePdf([{ content: QUARTERS }, {}, {}]);
  const late = Buffer.concat([Buffer.alloc(900, "junk\n"), pdf]);
  expect(await admitInfo(renderer, { bytes: late }, "application/pdf")).toEqual({
    width: 120,
    height: 80,
    pages: 3,
  });
});

test("admit reports page sizes only for a PDF with several pages", async () => {
  const pdf = samplePdf([{ content: QUARTERS }, { entries: "/MediaBox[0 0 30 30]" }]);
  const options = { cleanedPath: join(tmpdir(), "never-written"), keepMetadata: true, keepPdfActions: true };
  const { pageSizes } = await renderer.admit({ bytes: pdf }, "application/pdf", options);
  expect(pageSizes).toEqual([
    [1, 120, 80],
    [2, 60, 60],
  ]);
  const onePage = samplePdf([{ content: QUARTERS }]);
  expect(await renderer.admit({ bytes: onePage }, "application/pdf", options)).not.toHaveProperty(
    "pageSizes",
  );
  expect(await renderer.admit({ bytes: originals.gif }, "image/gif", options)).not.toHaveProperty(
    "pageSizes",
  );
});

test("admit refuses a PDF of more than 48 MiB as too large", async () => {
  const pdf = Buffer.concat([samplePdf([{ content: QUARTERS }]), Buffer.alloc(48 * 1024 ** 2)]);
  await expect(admitInfo(renderer, { bytes: pdf }, "application/pdf")).rejects.toMatchObject({
    code: "too_large",
    message: "A PDF may have at most 48 MiB, and this one has 48.0 MiB.",
  });
});

test("admit warns of frames and text that renditions lack", async () => {
  const warningsOf = async (bytes: Buffer, type: OriginalType) =>
    (await admitInfo(renderer, { bytes }, type)).warnings;
  const animated = (frames: number) => {
    const control = Buffer.alloc(8);
    control.writeUInt32BE(frames);
    return Buffer.concat([
      originals.png.subarray(0, 33),
      writePngChunk("acTL", control),
      originals.png.subarray(33),
    ]);
  };
  expect(await admitInfo(renderer, { bytes: animatedPng(40) }, "image/png")).toMatchObject({
    pages: 2,
    warnings: ["first_frame_only"],
  });
  // One frame, and frames that do not exist.
  for (const frames of [1, 3]) expect(await warningsOf(animated(frames), "image/png")).toBeUndefined();
  expect(await warningsOf(originals.png, "image/png")).toBeUndefined();
  const label = '<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">Start</p></foreignObject>';
  expect(
    await warningsOf(Buffer.from(svg(9, `<rect width="9" height="9"/>${label}`)), "image/svg+xml"),
  ).toEqual(["text_removed"]);
});

test("admit names removed metadata of pixels, not metadata that is kept or absent", async () => {
  const gps = {
    IFD0: { Model: "Camera 3" },
    IFD3: { GPSLatitudeRef: "N", GPSLatitude: "51/1 30/1 3230/100" },
  };
  const photo = sharp(originals.jpeg).withExif(gps);
  for (const [format, type] of [
    ["jpeg", "image/jpeg"],
    ["png", "image/png"],
  ] as const) {
    const bytes = await photo.clone().toFormat(format).toBuffer();
    expect(await admitInfo(renderer, { bytes }, type)).toMatchObject({ warnings: ["metadata_removed"] });
    const kept = await admitInfo(renderer, { bytes }, type, { keepMetadata: true });
    expect(kept.warnings).toBeUndefined();
    const plain = await sharp(originals.jpeg).toFormat(format).toBuffer();
    expect((await admitInfo(renderer, { bytes: plain }, type)).warnings).toBeUndefined();
  }
});

test("admit rejects with store_unavailable for a file that cannot be read", async () => {
  const path = join(tmpdir(), "there-is-no-such-picture.png");
  const error = await admitInfo(renderer, { path }, "image/png").catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: "store_unavailable",
    cause: expect.objectContaining({ code: "ENOENT" }),
  });
  expect(error).toHaveProperty("message", expect.not.stringContaining(path));
});

describe("admit refuses", () => {
  const unreadable = expect.any(String);

  test("a PNG or JPEG that ends in its header, and an interlaced PNG that ends anywhere", async () => {
    for (const [kind, share] of [
      ["png", 0],
      ["jpeg", 0],
      ["interlaced", 0.5],
    ] as const) {
      const whole = originals[kind];
      const type = kind === "jpeg" ? "image/jpeg" : "image/png";
      for (const length of [2, 8, 30, whole.length * share]) {
        expect(await refusal(whole.subarray(0, length), type), `${kind}, ${length}`).toEqual(unreadable);
      }
    }
  });

  test("two components, and frames that hold fewer pixels than they declare", async () => {
    expect(await refusal(TWO_COMPONENTS, "image/jpeg")).toBe("it has 2 colour channels");
    const sparse = sparseGif(100, 100, [{ width: 100, height: 100 }]);
    expect(await refusal(sparse, "image/gif")).toEqual(unreadable);
  });

  test("forms of JPEG and PNG that few programs read, by their name", async () => {
    const jpeg = originals.jpeg;
    const frameAt = jpeg.indexOf(Buffer.of(0xff, 0xc0, 0));
    const withByte = (at: number, value: number) => {
      const changed = Buffer.from(jpeg);
      changed[at] = value;
      return changed;
    };
    expect(await refusal(withByte(frameAt + 4, 12), "image/jpeg")).toBe(
      "it has 12 bits per channel; 8 are supported",
    );
    expect(await refusal(withByte(frameAt + 1, 0xc3), "image/jpeg")).toBe(
      "it is coded without loss, in a hierarchy or arithmetically",
    );
    const chunk = Buffer.from("\0\0\0\x04CgBI\x50\0\x20\x02\x2b\xd5\xb3\x7f", "latin1");
    const png = Buffer.concat([originals.png.subarray(0, 8), chunk, originals.png.subarray(8)]);
    expect(await refusal(png, "image/png")).toBe(
      "it is in the form of PNG that Xcode makes for iPhone apps (CgBI)",
    );
  });

  test("readable bytes of another type, and names that type", async () => {
    expect(await refusal(originals.jpeg, "image/png")).toBe("its bytes are jpeg");
    expect(await refusal(originals.png, "image/svg+xml")).toEqual(unreadable);
    for (const format of ["webp", "avif", "tiff"] as const) {
      const bytes = await sharp(originals.png).resize(20).toFormat(format).toBuffer();
      for (const type of ["image/png", "image/jpeg"] as const) {
        expect(await refusal(bytes, type), format).toMatch(
          /^(damaged: its header cannot be read|its bytes are tiff)$/,
        );
      }
      expect(await refusal(bytes, "image/svg+xml"), format).toEqual(unreadable);
    }
  });

  test("admit refuses an animation of more than 500 frames, and an original of more than 50 megapixels over all frames", async () => {
    const colours = Array.from({ length: 501 }, (_, index): Rgb => [index % 256, index >> 8, 0]);
    const options = { delay: colours.map(() => 50), loop: 0 };
    const most = await animation(4, 4, colours.slice(1), options);
    expect(await admitInfo(renderer, { bytes: most }, "image/gif")).toHaveProperty("pages", 500);
    const more = await animation(4, 4, colours, options);
    expect(await refusal(more, "image/gif")).toBe("it has 501 frames; at most 500 are accepted");
    const large = sparseGif(2000, 2000, new Array(13).fill({ width: 2000, height: 2000 }));
    expect(await refusal(large, "image/gif")).toBe("it has more than 50 megapixels");
  });
});

const source = Buffer.from("0123456789");

test("parts of the source become ranges, joined where one continues another, and the rest new bytes", () => {
  const parts = [
    source.subarray(0, 2),
    source.subarray(2, 4),
    Buffer.from("ab"),
    Buffer.from("c"),
    source.subarray(7),
  ];
  expect(describePieces(source, parts)).toEqual({
    pieces: [
      ["source", 0, 4],
      ["reply", 0, 3],
      ["source", 7, 10],
    ],
    bytes: Buffer.from("abc"),
  });
});

test("bytes in the same memory, but outside of the source, are new bytes", () => {
  const within = source.subarray(2, 6);
  expect(describePieces(within, [source.subarray(5, 8)])).toEqual({
    pieces: [["reply", 0, 3]],
    bytes: Buffer.from("567"),
  });
});

test("more pieces than a reply may have become new bytes", () => {
  const long = Buffer.alloc(4 * MAX_PIECES, "abcd");
  const parts = Array.from({ length: MAX_PIECES + 1 }, (_, index) => long.subarray(2 * index, 2 * index + 1));
  const { pieces, bytes } = describePieces(long, parts);
  expect(pieces).toEqual([["reply", 0, MAX_PIECES + 1]]);
  expect(bytes).toEqual(Buffer.concat(parts));
});
