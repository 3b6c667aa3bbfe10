import type { FontCoverage, Script } from "@outrigger/imaging";
import type { PngPixels } from "./png-pixels.ts";

/** Two characters that a font for the script has. */
const CHARACTERS: Readonly<Record<Script, string>> = {
  Latin: "Rő",
  Greek: "Ψλ",
  Cyrillic: "Жд",
  Arabic: "عب",
  Hebrew: "שא",
  Devanagari: "कम",
  Thai: "กข",
  Chinese: "简體",
  Japanese: "あカ",
  Korean: "한글",
  emoji: "😀🎉",
};

const FAMILIES = ["sans-serif", "serif", "monospace"] as const;

const CELL_WIDTH = 96;
const CELL_HEIGHT = 80;
/** So far apart two lines of a box may be. */
const REACH = 12;

interface Cell {
  column: number;
  row: number;
}

const scripts = Object.keys(CHARACTERS) as Script[]; // The keys of a Record<Script, …>.
const familyCells = FAMILIES.map((family, index) => ({ family, cell: { column: 3, row: index } }));

/**
 * One SVG picture with everything that tells fonts apart: in each row two characters of a script and, beside them, one
 * that no font has; in a fourth column the same letters in the generic families.
 */
export function drawFontSheet(): Buffer {
  const texts = scripts.flatMap((script, row) => {
    const [first = "", second = ""] = CHARACTERS[script];
    // Missing ones become boxes of four digits, beyond U+FFFF of six.
    const missing = first.length === 1 ? "\u{fdd0}" : "\u{1fffe}";
    return [first, second, missing].map((text, column) => textAt({ column, row }, text));
  });
  const inFamilies = familyCells.map(({ family, cell }) => textAt(cell, "Rgi", family));
  const [width, height] = [4 * CELL_WIDTH, scripts.length * CELL_HEIGHT];
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
      `${[...texts, ...inFamilies].join("")}</svg>`,
  );
}

/** The scripts that the fonts of the service can draw. */
export function readFontSheet(pixels: PngPixels): FontCoverage {
  const isDrawn = (script: Script) => {
    const row = scripts.indexOf(script);
    const missing = silhouetteOf(pixels, { column: 2, row });
    return [0, 1].every((column) => !silhouetteOf(pixels, { column, row }).equals(missing));
  };
  const inFamilies = familyCells.map(({ family, cell }) => ({
    family,
    silhouette: silhouetteOf(pixels, cell),
  }));
  return {
    drawnScripts: scripts.filter(isDrawn),
    missingScripts: scripts.filter((script) => !isDrawn(script)),
    alikeFamilies: inFamilies
      .filter((one) => inFamilies.some((other) => other !== one && other.silhouette.equals(one.silhouette)))
      .map(({ family }) => family),
  };
}

/** Far enough from the edges of its cell that no ink reaches another. */
function textAt({ column, row }: Cell, text: string, family = "sans-serif"): string {
  const [x, y] = [column * CELL_WIDTH + 16, row * CELL_HEIGHT + 52];
  return `<text x="${x}" y="${y}" font-size="32" font-family="${family}">${text}</text>`;
}

/**
 * Where there is ink in a cell, or within reach of some: boxes look the same whichever digits stand in them, letters do not.
 * One byte a pixel, 1 or 0.
 */
function silhouetteOf({ rows, bytesPerPixel }: PngPixels, { column, row }: Cell): Buffer {
  const background = rows[0]?.subarray(0, bytesPerPixel) ?? Buffer.alloc(bytesPerPixel);
  const ink = Buffer.alloc(CELL_WIDTH * CELL_HEIGHT);
  for (let y = 0; y < CELL_HEIGHT; y++) {
    for (let x = 0; x < CELL_WIDTH; x++) {
      const at = (column * CELL_WIDTH + x) * bytesPerPixel;
      const pixel = rows[row * CELL_HEIGHT + y]?.subarray(at, at + bytesPerPixel);
      ink[y * CELL_WIDTH + x] = pixel === undefined || pixel.equals(background) ? 0 : 1;
    }
  }
  return spread(spread(ink, 1), CELL_WIDTH);
}

/** Ink spread along one axis. @param step From one pixel to the next along it. */
function spread(ink: Buffer, step: number): Buffer {
  const wide = Buffer.alloc(ink.length);
  for (const [at, isInk] of ink.entries()) {
    if (isInk === 1) for (let by = -REACH; by <= REACH; by++) wide[at + by * step] = 1;
  }
  return wide;
}
