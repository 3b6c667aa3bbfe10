import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { QUARTERS, samplePdf } from "../../../../../test/support/pdf-samples.ts";
import { drawn, everythingIn, FIRST, strip } from "../../../test/acting-pdfs.ts";
import { exifBlock } from "../../../test/exif-blocks.ts";
import { stripPdf } from "./strip-pdf.ts";

const SECRET = "a secret";

describe("stripPdf, picture in a page", async () => {
  const plain = await sharp({ create: { width: 16, height: 8, channels: 3, background: "#a40" } })
    .jpeg()
    .toBuffer();
  const exif = Buffer.concat([Buffer.of(0xff, 0xe1, 0, 104), Buffer.from("Exif\0\0"), exifBlock(6)]);
  const secret = Buffer.from(`\xff\xed\0\x0a${SECRET}`, "latin1");
  const jpeg = Buffer.concat([plain.subarray(0, 2), exif, secret, plain.subarray(2), Buffer.from(SECRET)]);
  const withImage = (filter: string, data: Buffer) =>
    samplePdf(
      [{ content: "60 0 0 40 0 0 cm /I Do", resources: `/XObject<</I ${FIRST} 0 R>>` }],
      [
        {
          dictionary: `/Subtype/Image/Width 16/Height 8/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter${filter}`,
          data,
        },
        "15",
      ],
    );
  /** Strips a PDF, and expects the picture to look as it did before it was described. */
  async function stripAll(pdf: Buffer): Promise<Buffer> {
    const stripped = await strip(pdf);
    expect(everythingIn(stripped)).not.toMatch(/a secret|Serial/);
    expect((await drawn(stripped)).equals(await drawn(withImage("/DCTDecode", plain)))).toBe(true);
    expect(await stripPdf(stripped)).toBeNull();
    return stripped;
  }

  test.each(["/DCTDecode", "[/DCTDecode]"])("loses its metadata with filter %s", async (filter) => {
    await stripAll(withImage(filter, jpeg));
  });

  const png = (bytes: Buffer) => deflateSync(pngRows(bytes));
  test.each<[string, string, (bytes: Buffer) => Buffer]>([
    ["Flate", "[/FlateDecode/DCTDecode]", (bytes) => deflateSync(bytes)],
    ["Crypt", "[/Crypt/DCTDecode]", (bytes) => bytes],
    ["Crypt with parameters", "[/Crypt/DCTDecode]/DecodeParms[<</Name/Identity>> null]", (bytes) => bytes],
    [
      "each of PNG's predictors",
      "[/FlateDecode/DCTDecode]/DecodeParms[<</Predictor 15/Columns 7/Colors 3>> null]",
      png,
    ],
    [
      "a predictor in another object",
      `[/Fl/DCT]/DecodeParms[<</Predictor ${FIRST + 1} 0 R/Columns 7/Colors 3>>]`,
      png,
    ],
    [
      "TIFF's predictor",
      "[/FlateDecode/DCTDecode]/DecodeParms[<</Predictor 2/Columns 8>>]",
      (bytes) => deflateSync(tiffRows(bytes)),
    ],
    [
      "parameters that readers ignore",
      "[/FlateDecode/DCTDecode]/DecodeParms<</Predictor 15>>",
      (bytes) => deflateSync(bytes),
    ],
  ])("loses its metadata behind %s", async (_, filter, encode) => {
    await stripAll(withImage(filter, encode(jpeg)));
  });

  // The first block is whole, and not the last one; the second is of no kind.
  const damaged = Buffer.concat([deflateSync(jpeg, { level: 0 }).subarray(0, -4), Buffer.alloc(9, 0xff)]);
  damaged[2] = 0;
  test.each([
    ["damaged Flate", "[/FlateDecode/DCTDecode]", damaged],
    ["a filter that gives no bytes", "[/CCITTFaxDecode/DCTDecode]", jpeg],
    [
      "a predictor without columns",
      "[/Fl/DCT]/DecodeParms[<</Predictor 15/Columns 0>>]",
      deflateSync(jpeg, { level: 0 }),
    ],
  ])("is blanked behind %s", async (_, filter, data) => {
    const stripped = await strip(withImage(filter, data));
    expect(everythingIn(stripped)).not.toMatch(/a secret|Serial/);
    expect(await stripPdf(stripped)).toBeNull();
  });

  test.each([
    ["behind more than eight filters", "/I Do", `[${"/Crypt".repeat(8)}/DCTDecode]`],
    ["beside many broken inline images", `/I Do ${"BI /W 1 ".repeat(21)}`, "/DCTDecode"],
  ])("%s is refused in an upload, and served in a rendition without the rest", async (_, content, filter) => {
    const dictionary = `/Type/XObject/Subtype/Image/Width 16/Height 8/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter${filter}`;
    const objects = [{ dictionary, data: plain }, `<</Author(${SECRET})/Title(${SECRET})>>`];
    const page = { content: `${QUARTERS} ${content}`, resources: `/XObject<</I ${FIRST} 0 R>>` };
    const pdf = samplePdf([page], objects, { trailer: `/Info ${FIRST + 1} 0 R` });
    await expect(stripPdf(pdf)).rejects.toMatchObject({ code: "unsupported_media" });
    const pieces = await stripPdf(pdf, { keepPdfActions: true, keepUnremovable: true });
    const served = Buffer.concat(pieces ?? [pdf]);
    expect(served.includes(SECRET)).toBe(false);
    expect((await drawn(served)).equals(await drawn(pdf))).toBe(true);
  });
});

/** Rows of 21 bytes, each with the next one of PNG's predictors, for pixels of three bytes. */
function pngRows(bytes: Buffer): Buffer {
  const rows: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += 21) {
    const predictor = (start / 21) % 5;
    const row = bytes.subarray(start, start + 21).map((byte, index) => {
      const left = index < 3 ? 0 : (bytes[start + index - 3] ?? 0);
      const above = bytes[start + index - 21] ?? 0;
      const corner = index < 3 ? 0 : (bytes[start + index - 24] ?? 0);
      const nearest = [left, above, corner].toSorted(
        (one, other) => Math.abs(left + above - corner - one) - Math.abs(left + above - corner - other),
      );
      return byte - ([0, left, above, (left + above) >> 1, nearest[0]][predictor] ?? 0);
    });
    rows.push(Buffer.of(predictor), Buffer.from(row));
  }
  return Buffer.concat(rows);
}

/** Rows of eight bytes. */
function tiffRows(bytes: Buffer): Buffer {
  return Buffer.from(bytes.map((byte, index) => byte - (index % 8 === 0 ? 0 : (bytes[index - 1] ?? 0))));
}
