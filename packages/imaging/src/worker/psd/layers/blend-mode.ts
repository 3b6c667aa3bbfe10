import { channelMixers, type MixChannels } from "./channel-mixers.ts";

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
export type Blending = Uint8Array | MixChannels | null;

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
