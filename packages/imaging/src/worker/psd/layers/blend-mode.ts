import { heightOf, type Rectangle, widthOf } from "./rectangle.ts";

/** The result of blending a sample over another, both opaque. Values are 0 to 1; results are clipped. */
type Formula = (below: number, above: number) => number;

const normal: Formula = (_, above) => above;
const multiply: Formula = (below, above) => below * above;
const screen: Formula = (below, above) => below + above - below * above;
const linearBurn: Formula = (below, above) => below + above - 1;

const hardLight: Formula = (below, above) =>
  above <= 0.5 ? multiply(below, 2 * above) : screen(below, 2 * above - 1);

const colourBurn: Formula = (below, above) => {
  if (below >= 1) return 1;
  return above <= 0 ? 0 : 1 - (1 - below) / above;
};

const colourDodge: Formula = (below, above) => {
  if (below <= 0) return 0;
  return above >= 1 ? 1 : below / (1 - above);
};

const softLight: Formula = (below, above) => {
  if (above <= 0.5) return below - (1 - 2 * above) * below * (1 - below);
  const curve = below <= 0.25 ? ((16 * below - 12) * below + 4) * below : Math.sqrt(below);
  return below + (2 * above - 1) * (curve - below);
};

const vividLight: Formula = (below, above) =>
  above <= 0.5 ? colourBurn(below, 2 * above) : colourDodge(below, 2 * above - 1);

const pinLight: Formula = (below, above) =>
  above <= 0.5 ? Math.min(below, 2 * above) : Math.max(below, 2 * above - 1);

/**
 * Blend modes by Photoshop's name, except those that mix channels.
 *
 * Source: ISO 32000-1, 11.3.5.2. It lacks linear, vivid and pin light, hard mix, subtract and divide; "Blending mode
 * descriptions" in Photoshop's manual describes these.
 */
const formulas: Readonly<Record<string, Formula>> = {
  normal,
  // Scatters the pixels that normal would mix; it looks the same from a distance.
  dissolve: normal,
  // For groups that must be blended as a whole.
  "pass through": normal,
  darken: Math.min,
  multiply,
  "color burn": colourBurn,
  "linear burn": linearBurn,
  lighten: Math.max,
  screen,
  "color dodge": colourDodge,
  "linear dodge": (below, above) => below + above,
  overlay: (below, above) => hardLight(above, below),
  "soft light": softLight,
  "hard light": hardLight,
  "vivid light": vividLight,
  "linear light": (below, above) => linearBurn(below, 2 * above),
  "pin light": pinLight,
  "hard mix": (below, above) => (below + above >= 1 ? 1 : 0),
  difference: (below, above) => Math.abs(below - above),
  exclusion: (below, above) => below + above - 2 * below * above,
  subtract: (below, above) => below - above,
  divide: (below, above) => (below <= 0 ? 0 : below / Math.max(above, 1 / 255)),
};

const tables = new Map<string, Uint8Array>();

/**
 * How a mode blends bytes: all results for one channel, at index 256 × below + above, or a function of all channels.
 * `null` for modes equal to normal.
 */
type Blending = Uint8Array | MixChannels | null;

/** An unknown mode blends normally. */
export function blendingOf(blendMode: string): Blending {
  const mixer = channelMixers[blendMode];
  if (mixer !== undefined) return mixer;
  const formula = formulas[blendMode] ?? normal;
  if (formula === normal) return null;
  const known = tables.get(blendMode) ?? tabulate(formula);
  tables.set(blendMode, known);
  return known;
}

function tabulate(formula: Formula): Uint8Array {
  return Uint8Array.from({ length: 0x10000 }, (_, index) => {
    const outcome = formula((index >> 8) / 255, (index & 0xff) / 255);
    return Math.round(255 * Math.min(1, Math.max(0, outcome)));
  });
}

/** Pixels of `area`, row by row: RGBA of 8 bits, colours not multiplied with alpha. */
export interface Patch {
  area: Rectangle;
  pixels: Buffer;
}

/**
 * Blends a patch onto a canvas that contains its area. libvips is unsuitable: in all modes but normal it applies the
 * alpha of translucent pixels twice.
 *
 * Source: ISO 32000-1, 11.3.6.
 *
 * @param blending the result of `blendingOf`; `null` for normal.
 */
export function blendPatch(canvas: Patch, patch: Patch, blending: Blending): void {
  const columns = widthOf(patch.area);
  const toLeft = patch.area.left - canvas.area.left;
  const toTop = patch.area.top - canvas.area.top;
  for (let y = 0; y < heightOf(patch.area); y++) {
    const end = (y + 1) * columns * 4;
    let to = ((toTop + y) * widthOf(canvas.area) + toLeft) * 4;
    for (let from = y * columns * 4; from < end; from += 4, to += 4) {
      blendPixel(canvas.pixels, to, patch.pixels, from, blending);
    }
  }
}

function blendPixel(canvas: Buffer, to: number, patch: Buffer, from: number, blending: Blending): void {
  const alpha = patch[from + 3] ?? 0;
  const alphaBelow = canvas[to + 3] ?? 0;
  if (alpha === 0) return;
  if (alphaBelow === 0 || (alpha === 255 && blending === null)) {
    for (let sample = 0; sample < 4; sample++) canvas[to + sample] = patch[from + sample] ?? 0;
    return;
  }
  if (typeof blending === "function") mixPixel(canvas, to, alphaBelow, patch, from, blending);
  const table = typeof blending === "function" ? null : blending;
  // Both are fractions of 255 * 255.
  const share = alpha * 255;
  const shareBelow = alphaBelow * (255 - alpha);
  const total = share + shareBelow;
  for (let channel = 0; channel < 3; channel++) {
    const below = canvas[to + channel] ?? 0;
    let above = patch[from + channel] ?? 0;
    if (table) above += (((table[(below << 8) | above] ?? 0) - above) * alphaBelow) / 255;
    canvas[to + channel] = (above * share + below * shareBelow) / total + 0.5;
  }
  canvas[to + 3] = total / 255 + 0.5;
}

/** Replaces the colour of a pixel of the patch by the mixed one, as far as the canvas is opaque. */
function mixPixel(
  canvas: Buffer,
  to: number,
  alphaBelow: number,
  patch: Buffer,
  from: number,
  mix: MixChannels,
): void {
  const above: Rgb = [patch[from] ?? 0, patch[from + 1] ?? 0, patch[from + 2] ?? 0];
  const mixed = mix([canvas[to] ?? 0, canvas[to + 1] ?? 0, canvas[to + 2] ?? 0], above);
  for (let channel = 0; channel < 3; channel++) {
    const own = patch[from + channel] ?? 0;
    patch[from + channel] = own + (((mixed[channel] ?? 0) - own) * alphaBelow) / 255 + 0.5;
  }
}

/** Red, green and blue of 0 to 255. */
export type Rgb = [red: number, green: number, blue: number];

/** Returns the colour of one opaque pixel blended over another. May change and return its arguments. */
type MixChannels = (below: Rgb, above: Rgb) => Rgb;

/**
 * Blend modes that mix channels, by Photoshop's name.
 *
 * Source: ISO 32000-1, 11.3.5.3. It lacks darker and lighter colour; "Blending mode descriptions" in Photoshop's manual
 * describes these.
 */
export const channelMixers: Readonly<Record<string, MixChannels>> = {
  hue: (below, above) => withLuminosity(withSaturation(above, saturationOf(below)), luminosityOf(below)),
  saturation: (below, above) => {
    const luminosity = luminosityOf(below);
    return withLuminosity(withSaturation(below, saturationOf(above)), luminosity);
  },
  color: (below, above) => withLuminosity(above, luminosityOf(below)),
  luminosity: (below, above) => withLuminosity(below, luminosityOf(above)),
  "darker color": (below, above) => (luminosityOf(above) < luminosityOf(below) ? above : below),
  "lighter color": (below, above) => (luminosityOf(above) > luminosityOf(below) ? above : below),
};

function luminosityOf([red, green, blue]: Rgb): number {
  return 0.3 * red + 0.59 * green + 0.11 * blue;
}

function saturationOf(colour: Rgb): number {
  return Math.max(...colour) - Math.min(...colour);
}

function withLuminosity(colour: Rgb, luminosity: number): Rgb {
  const change = luminosity - luminosityOf(colour);
  const [red, green, blue] = colour;
  return clip([red + change, green + change, blue + change], luminosity);
}

/** Pulls a colour towards its grey until no channel is out of range. */
function clip(colour: Rgb, luminosity: number): Rgb {
  const least = Math.min(...colour);
  const most = Math.max(...colour);
  let factor = 1;
  if (least < 0) factor = luminosity / (luminosity - least);
  if (most > 255) factor = Math.min(factor, (255 - luminosity) / (most - luminosity));
  if (factor === 1) return colour;
  const [red, green, blue] = colour;
  return [
    luminosity + (red - luminosity) * factor,
    luminosity + (green - luminosity) * factor,
    luminosity + (blue - luminosity) * factor,
  ];
}

function withSaturation(colour: Rgb, saturation: number): Rgb {
  const least = Math.min(...colour);
  const range = Math.max(...colour) - least;
  if (range === 0) return [0, 0, 0];
  const [red, green, blue] = colour;
  const factor = saturation / range;
  return [(red - least) * factor, (green - least) * factor, (blue - least) * factor];
}
