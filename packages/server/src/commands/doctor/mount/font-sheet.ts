import type { FontCoverage, Script } from "@outrigger/imaging";
import type { PngPixels } from "./png-pixels.ts";

/** Two characters of each script that its fonts have. */
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
/** Largest distance in pixels between two lines of a box. */
const REACH = 12;

interface Cell {
  column: number;
  row: number;
}

const scripts = Object.keys(CHARACTERS) as Script[]; // The keys of a Record<Script, …>.
const familyCells = FAMILIES.map((family, index) => ({ family, cell: { column: 3, row: index } }));

/**
 * One SVG picture that shows which fonts are present. Each row has two characters of a script and one character that no font
 * has. A fourth column has the same letters in the generic families.
 */
export function drawFontSheet(): Buffer {
  const texts = scripts.flatMap((script, row) => {
    const [first = "", second = ""] = CHARACTERS[script];
    // A missing character becomes a box with four digits, or with six digits above U+FFFF.
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

/** Reads from the rendered sheet which scripts the fonts of the service cover. */
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

/** Places text far enough from the edges of its cell that no ink reaches another cell. */
function textAt({ column, row }: Cell, text: string, family = "sans-serif"): string {
  const [x, y] = [column * CELL_WIDTH + 16, row * CELL_HEIGHT + 52];
  return `<text x="${x}" y="${y}" font-size="32" font-family="${family}">${text}</text>`;
}

/**
 * The pixels of a cell within `REACH` of ink, one byte per pixel, 1 or 0. Boxes with different digits have the same
 * silhouette; letters do not.
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

/** Spreads ink along one axis. @param step Distance in the buffer between neighbouring pixels of that axis. */
function spread(ink: Buffer, step: number): Buffer {
  const wide = Buffer.alloc(ink.length);
  for (const [at, isInk] of ink.entries()) {
    if (isInk === 1) for (let by = -REACH; by <= REACH; by++) wide[at + by * step] = 1;
  }
  return wide;
}
