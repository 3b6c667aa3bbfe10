import { expect, test } from "vitest";
import { patterned } from "../../../../../test/support/psd-colours.ts";
import { openPsd } from "./open-psd.ts";
import { readPsdHeader } from "./psd-header.ts";

const psd = patterned([{ stored: [1, 2, 3], seen: [] }]);

/** A header of 5 by 4 pixels of RGB with some 16-bit fields replaced, by position. */
function header(fields: Record<number, number> = {}): Buffer {
  const bytes = Buffer.from(psd.subarray(0, 26));
  for (const [position, value] of Object.entries(fields)) bytes.writeUInt16BE(value, Number(position));
  return bytes;
}

test("readPsdHeader reads the declared values", () => {
  const declared = { width: 5, height: 4, channels: 3, depth: 8, mode: "rgb" };
  expect(readPsdHeader(header())).toEqual({ ...declared, large: false });
  expect(readPsdHeader(header({ 4: 2 }))).toEqual({ ...declared, large: true });
});

test("readPsdHeader accepts up to 300,000 pixels a side in a PSD as in a PSB", () => {
  for (const version of [1, 2]) {
    // 0x40000 is 262,144, and 0x50000 is 327,680.
    expect(readPsdHeader(header({ 4: version, 18: 4, 20: 0 })).width).toBe(262_144);
    expect(() => readPsdHeader(header({ 4: version, 18: 5, 20: 0 }))).toThrow("327680 by 4 pixels");
  }
});

test.each([
  ["another signature", Buffer.concat([Buffer.from("8BPX"), header().subarray(4)]), "it has no PSD header"],
  ["nothing", Buffer.alloc(0), "it has no PSD header"],
  ["a cut header", header().subarray(0, 25), "it is truncated"],
  ["version 3", header({ 4: 3 }), "its version is 3"],
  ["no channels", header({ 12: 0 }), "0 channels"],
  ["57 channels", header({ 12: 57 }), "57 channels"],
  ["RGB of two channels", header({ 12: 2 }), "2 channels as rgb"],
  ["CMYK of three channels", header({ 24: 4 }), "3 channels as cmyk"],
  ["no width", header({ 20: 0 }), "0 by 4 pixels"],
  ["a height of 327,684", header({ 14: 5 }), "5 by 327684 pixels"],
  ["5 bits", header({ 22: 5 }), "5 bits a channel as rgb"],
  ["RGB of one bit", header({ 22: 1 }), "1 bits a channel as rgb"],
  ["Lab of floats", header({ 22: 32, 24: 9 }), "32 bits a channel as lab"],
  ["colour mode 5", header({ 24: 5 }), "its colour mode is 5"],
])("readPsdHeader refuses %s", (_, bytes, reason) => {
  expect(() => readPsdHeader(bytes)).toThrow(
    expect.objectContaining({ code: "unsupported_media", message: expect.stringContaining(reason) }),
  );
});

test("openPsd refuses more than maxPixels", async () => {
  await expect(openPsd(psd, { maxPixels: 20 })).resolves.toMatchObject({ natural: { width: 5, height: 4 } });
  await expect(openPsd(psd, { maxPixels: 19 })).rejects.toMatchObject({ code: "unsupported_media" });
});
