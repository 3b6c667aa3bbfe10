import sharp from "sharp";
import { expect, test } from "vitest";
import { cleanSvg } from "../../packages/imaging/src/worker/svg/clean-svg.ts";
import { sampleSvgs } from "./samples.ts";

const samples = Object.entries(await sampleSvgs());

async function pixels(svg: Buffer): Promise<{ size: number[]; data: Buffer }> {
  const { data, info } = await sharp(svg, { density: 144 })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { size: [info.width, info.height], data };
}

test("every sample is drawn the same after cleaning", async () => {
  for (const [name, svg] of samples) {
    const before = await pixels(Buffer.from(svg));
    const cleaned = cleanSvg(Buffer.from(svg));
    const after = await pixels(cleaned);
    expect(after.size, name).toEqual(before.size);
    expect(after.data.equals(before.data), name).toBe(true);
    // A blank picture would prove nothing.
    expect(new Set(before.data).size, name).toBeGreaterThan(1);
    expect(cleanSvg(cleaned).equals(cleaned), name).toBe(true);
  }
});

test("cleaning removes the names of people, files and programs", () => {
  for (const [, svg] of samples) {
    expect(cleanSvg(Buffer.from(svg)).toString()).not.toMatch(
      /someone|inkscape:|sodipodi|sketch:|Generator|<!|<\?/,
    );
  }
});
