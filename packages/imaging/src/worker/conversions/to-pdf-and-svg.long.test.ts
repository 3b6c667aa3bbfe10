import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, expect, test } from "vitest";

const renderer = createRenderer({ workers: 1, timeoutMs: 60_000 });
afterAll(() => renderer.close());

test("a raster too large for an SVG becomes JPEG, or smaller if it is transparent", async () => {
  const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
  const opaque = sharp({ create: { width: 1800, height: 1600, channels: 3, background: "#888", noise } });
  const opaquePng = await opaque.png({ compressionLevel: 1 }).toBuffer();
  expect(opaquePng.length).toBeGreaterThan(7_500_000);
  const glass = await sharp(opaquePng).ensureAlpha(0.5).png({ compressionLevel: 1 }).toBuffer();
  for (const [bytes, type, narrowest] of [
    [opaquePng, "image/jpeg", 1800],
    [glass, "image/png", 1200],
  ] as const) {
    const { bytes: wrapped } = await renderer.render({ bytes }, "image/png", { format: "svg" });
    expect(wrapped.length).toBeLessThan(10_000_000);
    expect(wrapped.toString("latin1", 0, 300)).toMatch(/<svg [^>]*width="1800" height="1600"/);
    const text = wrapped.toString("latin1");
    const start = text.indexOf(`data:${type};base64,`) + `data:${type};base64,`.length;
    const { width } = await sharp(
      Buffer.from(text.slice(start, text.indexOf('"', start)), "base64"),
    ).metadata();
    expect(width).toBeGreaterThanOrEqual(narrowest);
    // What it is read by elsewhere reads it.
    expect(await sharp(wrapped).metadata()).toMatchObject({ format: "svg", width: 1800, height: 1600 });
  }
});
