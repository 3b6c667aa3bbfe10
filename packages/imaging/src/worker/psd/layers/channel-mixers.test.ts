import { expect, test } from "vitest";
import { channelMixers, type Rgb } from "./blend-mode.ts";

function luminosity([red, green, blue]: Rgb): number {
  return 0.3 * red + 0.59 * green + 0.11 * blue;
}

const COLOURS: Rgb[] = [
  [255, 0, 0],
  [10, 200, 90],
  [0, 0, 255],
  [255, 255, 255],
  [0, 0, 0],
  [120, 120, 120],
];
const pairs = COLOURS.flatMap((below) => COLOURS.map((above) => [below, above] as const));

test.each(Object.keys(channelMixers))("mixing channels by %s stays within the range", (mode) => {
  for (const [below, above] of pairs) {
    for (const sample of channelMixers[mode]?.([...below], [...above]) ?? [-1]) {
      expect(sample).toBeGreaterThanOrEqual(-0.001);
      expect(sample).toBeLessThanOrEqual(255.001);
    }
  }
});

test.each(["hue", "saturation", "color"])("mixing channels by %s keeps the luminosity below", (mode) => {
  for (const [below, above] of pairs) {
    expect(luminosity(channelMixers[mode]?.([...below], [...above]) ?? [-1, -1, -1])).toBeCloseTo(
      luminosity(below),
    );
  }
});

test("mixing channels by luminosity takes the luminosity above", () => {
  for (const [below, above] of pairs) {
    expect(luminosity(channelMixers.luminosity?.([...below], [...above]) ?? [-1, -1, -1])).toBeCloseTo(
      luminosity(above),
    );
  }
});
