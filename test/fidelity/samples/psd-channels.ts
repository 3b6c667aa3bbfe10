import type { SamplePsd } from "../../support/psd-samples.ts";
import { sceneAt } from "./sample.ts";

/** The size of the sample PSDs. */
export const PSD_SIZE = { width: 48, height: 36 };

export type Mode = Exclude<NonNullable<SamplePsd["mode"]>, "multichannel">;

/** Channels of the scene; alpha is full unless asked for. */
export function channelsOf(mode: Mode, depth: number, count: number, hasAlpha = false): number[][] {
  const { width, height } = PSD_SIZE;
  const most = 2 ** depth - 1;
  const channels: number[][] = Array.from({ length: count + (hasAlpha ? 1 : 0) }, () => []);
  for (let place = 0; place < width * height; place++) {
    const shade = sceneAt(((place % width) + 0.5) / width, (Math.floor(place / width) + 0.5) / height);
    const [red, green, blue] = shade;
    const grey = 0.3 * red + 0.59 * green + 0.11 * blue;
    const colours = {
      bitmap: [grey > 0.5 ? 0 : 1 / most],
      greyscale: [grey],
      indexed: [grey],
      duotone: [grey],
      rgb: [red, green, blue],
      cmyk: [red, green, blue, 1],
      lab: [grey, 0.5 + (red - green) / 4, 0.5 + (green - blue) / 4],
    }[mode];
    for (const [index, channel] of channels.entries()) {
      const value = index < count ? (colours[index] ?? 1) : shade[3];
      channel.push(Math.round(value * most));
    }
  }
  return channels;
}
