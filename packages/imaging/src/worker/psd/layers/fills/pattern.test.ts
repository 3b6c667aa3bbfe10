import { expect, test } from "vitest";
import { largestDifference } from "../../../../../../../test/support/psd-pixels.ts";
import type { StoredRows } from "../../stored-rows.ts";
import { drawPattern, type Pattern } from "./pattern.ts";
import { readPatternShapes } from "./read-patterns.ts";

function plane(values: readonly number[], width: number, depth: 8 | 16 = 8): StoredRows {
  const data = depth === 8 ? Buffer.from(values) : Buffer.from(values.flatMap((value) => [value, 0]));
  return { compression: 0, data, rows: values.length / width, width, depth, longCounts: false };
}

function pattern(more: Partial<Pattern> = {}, depth: 8 | 16 = 8): Pattern {
  const grey = plane([10, 20, 30, 40], 2, depth);
  return {
    kind: "pattern",
    stored: {
      mode: "greyscale",
      width: 2,
      height: 2,
      palette: Buffer.alloc(0),
      channels: [grey],
      alpha: null,
    },
    scale: 1,
    angle: 0,
    origin: { x: 0, y: 0 },
    convert: ([grey = 0]) => [grey, grey, grey],
    ...more,
  };
}

async function redsOf(drawn: Pattern): Promise<number[]> {
  const pixels = await drawPattern(drawn, { left: 0, top: 0, right: 4, bottom: 4 });
  return Array.from({ length: 16 }, (_, index) => pixels[index * 4] ?? -1);
}

test("drawPattern repeats a pattern of 8 or 16 bits", async () => {
  const rows = [10, 20, 10, 20, 30, 40, 30, 40];
  expect(await redsOf(pattern())).toEqual([...rows, ...rows]);
  expect(await redsOf(pattern({}, 16))).toEqual([...rows, ...rows]);
});

test("drawPattern turns a pattern counter-clockwise", async () => {
  const rows = [20, 40, 20, 40, 10, 30, 10, 30];
  expect(await redsOf(pattern({ angle: 90 }))).toEqual([...rows, ...rows]);
});

test("drawPattern moves a pattern in any direction", async () => {
  const rows = [40, 30, 40, 30, 20, 10, 20, 10];
  expect(await redsOf(pattern({ origin: { x: -1, y: 5 } }))).toEqual([...rows, ...rows]);
});

test("drawPattern enlarges a pattern", async () => {
  const reds = await redsOf(pattern({ scale: 2 }));
  // The scaling is cubic, so it exceeds the range a little.
  const corners = [reds[0], reds[3], reds[12], reds[15]].map((red) => red ?? -1);
  expect(largestDifference(corners, [10, 20, 30, 40]), `${reds}`).toBeLessThanOrEqual(3);
});

test("drawPattern keeps the transparency of a pattern", async () => {
  const { stored } = pattern();
  const drawn = pattern({ stored: { ...stored, alpha: plane([0, 255, 128, 255], 2) } });
  const pixels = await drawPattern(drawn, { left: 0, top: 0, right: 2, bottom: 2 });
  expect([3, 7, 11, 15].map((at) => pixels[at])).toEqual([0, 255, 128, 255]);
});

/** A block as Photoshop writes it, reduced to what is read. */
function block(scale: number, angle: number, head = "8BIMPtFl"): Buffer {
  const numbers = [scale, angle].map((value) => {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleBE(value);
    return bytes;
  });
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = numbers;
  const scaled = [Buffer.from("\0\0\0\0Scl UntF#Prc"), first];
  const content = Buffer.concat([...scaled, Buffer.from("\0\0\0\0AnglUntF#Ang"), second]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length + (head.includes("vscg") ? 4 : 0));
  if (!head.includes("vscg")) return Buffer.concat([Buffer.from(head), length, content]);
  return Buffer.concat([Buffer.from("8BIMvscg"), length, Buffer.from("PtFl"), content]);
}

test("readPatternShapes reads scale and angle of each filling in the order of the layers", () => {
  const layers = Buffer.concat([block(50, 30), Buffer.from("PtFl in a name"), block(200, 0, "vscg")]);
  expect(readPatternShapes(layers)).toEqual([
    { scale: 0.5, angle: 30 },
    { scale: 2, angle: 0 },
  ]);
});

test("readPatternShapes bounds hostile numbers", () => {
  const layers = Buffer.concat([block(1e300, Number.NaN), block(-5, 1e9), block(Number.NaN, 0)]);
  expect(readPatternShapes(layers)).toEqual([
    { scale: 10, angle: 0 },
    { scale: 0.01, angle: 1e9 % 360 },
    { scale: 1, angle: 0 },
  ]);
});
