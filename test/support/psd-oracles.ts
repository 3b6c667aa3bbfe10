import sharp from "sharp";
import { expect } from "vitest";
import { programs, run } from "./programs.ts";
import { readPsdPixels } from "./psd-pixels.ts";

/** RGBA of 8 bits. */
export interface Rgba {
  width: number;
  height: number;
  data: Buffer;
}

const READ_WITH_PSD_TOOLS = `
import io, sys
from psd_tools import PSDImage
psd = PSDImage.open(io.BytesIO(sys.stdin.buffer.read()))
part = sys.argv[1]
picture = psd.topil() if part == "merged" else psd[0].topil() if part == "layer" else psd.composite(force=True)
picture.convert("RGBA").save(sys.stdout.buffer, "PNG")
`;

export async function readWithPsdTools(bytes: Buffer, part: "merged" | "layer" | "layers"): Promise<Rgba> {
  return await readPng(programs.psdPython, ["-c", READ_WITH_PSD_TOOLS, part], bytes);
}

/** What a program writes as PNG. */
export async function readPng(program: string, args: string[], input: Buffer): Promise<Rgba> {
  const { status, stdout, stderr } = await run(program, args, { input });
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`);
  const { data, info } = await sharp(stdout).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

export async function readWithOurs(bytes: Buffer): Promise<Rgba> {
  const { width, height, channels, data } = await readPsdPixels(bytes);
  if (channels === 4) return { width, height, data };
  const raw = { width, height, channels: 3 } as const;
  return { width, height, data: await sharp(data, { raw }).ensureAlpha().raw().toBuffer() };
}

/** Of 255, over all samples; colours count as much as they are opaque. */
export function meanDifference(one: Rgba, other: Rgba): number {
  expect([one.width, one.height]).toEqual([other.width, other.height]);
  let sum = 0;
  for (let index = 0; index < one.data.length; index += 4) {
    const alpha = one.data[index + 3] ?? 0;
    for (let channel = 0; channel < 3; channel++)
      sum += (difference(one, other, index + channel) * alpha) / 255;
    sum += difference(one, other, index + 3);
  }
  return sum / one.data.length;
}

function difference(one: Rgba, other: Rgba, index: number): number {
  return Math.abs((one.data[index] ?? 0) - (other.data[index] ?? 0));
}
