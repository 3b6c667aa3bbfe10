import type { Color } from "ag-psd";
import type { ColourMode, PsdHeader } from "../../psd-header.ts";
import { convertLab, srgbBytes } from "../../srgb.ts";

/** Three samples of a layer as they are stored with 8 bits: 0 to 255, also for grey and for one ink. */
export type Samples = readonly [number, number, number];

type Rgb = Samples;

/**
 * A colour of a descriptor as samples of a document, one per channel: the light that is left by each ink in CMYK, and
 * lightness, a and b of Lab. Colours of another mode are converted without profiles.
 */
export function documentColour(colour: Color, { mode, depth }: Pick<PsdHeader, "mode" | "depth">): number[] {
  if (mode === "cmyk" && "c" in colour) {
    return [colour.c, colour.m, colour.y, colour.k].map((percent) => clampByte(255 - percent * 2.55));
  }
  if (mode === "lab" && "l" in colour) {
    return [colour.l * 2.55, colour.a + 128, colour.b + 128].map(clampByte);
  }
  return fromRgb(toRgb(colour, depth === 32), mode);
}

/** sRGB as samples of a document. */
export function fromRgb([red, green, blue]: Rgb, mode: ColourMode): number[] {
  if (mode === "rgb") return [red, green, blue];
  if (mode === "cmyk") {
    const most = Math.max(red, green, blue, 1);
    return [red, green, blue]
      .map((light) => clampByte((light * 255) / most))
      .concat(Math.max(red, green, blue));
  }
  if (mode === "lab") return toLab([red, green, blue]);
  return [clampByte(0.3 * red + 0.59 * green + 0.11 * blue)];
}

function toRgb(colour: Color, linear: boolean): Rgb {
  if ("r" in colour) return [clampByte(colour.r), clampByte(colour.g), clampByte(colour.b)];
  if ("fr" in colour) {
    const [red, green, blue] = [colour.fr, colour.fg, colour.fb].map((share) =>
      linear ? encode(share) : clampByte(share * 255),
    );
    return [red ?? 0, green ?? 0, blue ?? 0];
  }
  if ("h" in colour) return fromHue(colour.h, colour.s / 100, colour.b / 100);
  if ("c" in colour) {
    const light = 255 * (1 - colour.k / 100);
    const [red, green, blue] = [colour.c, colour.m, colour.y].map((ink) =>
      clampByte(light * (1 - ink / 100)),
    );
    return [red ?? 0, green ?? 0, blue ?? 0];
  }
  if ("l" in colour) {
    const pixel = Buffer.from([colour.l * 2.55, colour.a + 128, colour.b + 128].map(clampByte));
    convertLab(pixel, 1);
    return [pixel[0] ?? 0, pixel[1] ?? 0, pixel[2] ?? 0];
  }
  const grey = clampByte(255 - colour.k * 2.55);
  return [grey, grey, grey];
}

/** Hue, saturation and brightness, each 0 to 1. */
function fromHue(hue: number, saturation: number, brightness: number): Rgb {
  const channel = (offset: number) => {
    const sector = (offset + hue * 6) % 6;
    return clampByte(255 * brightness * (1 - saturation * Math.max(0, Math.min(sector, 4 - sector, 1))));
  };
  return [channel(5), channel(3), channel(1)];
}

function encode(light: number): number {
  return srgbBytes()[Math.round(Math.min(1, Math.max(0, light || 0)) * 0xffff)] ?? 0;
}

/** sRGB to Lab under D50, with 8 bits. Sources: IEC 61966-2-1, 5.2; CIE 15:2004, 8.2.1; the matrix by Bradford's method. */
function toLab(rgb: Rgb): number[] {
  const [red = 0, green = 0, blue = 0] = rgb.map((sample) => {
    const share = sample / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const [x = 0, y = 0, z = 0] = [
    (0.4360747 * red + 0.3850649 * green + 0.1430804 * blue) / 0.9642,
    0.2225045 * red + 0.7168786 * green + 0.0606169 * blue,
    (0.0139322 * red + 0.0971045 * green + 0.7141733 * blue) / 0.8249,
  ].map((share) => (share > (6 / 29) ** 3 ? Math.cbrt(share) : (841 / 108) * share + 4 / 29));
  return [(116 * y - 16) * 2.55, 500 * (x - y) + 128, 200 * (y - z) + 128].map(clampByte);
}

/** NaN becomes 0. */
function clampByte(value: number): number {
  if (value >= 255) return 255;
  return value > 0 ? Math.round(value) : 0;
}
