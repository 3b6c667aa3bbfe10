import type { Renderer } from "@outrigger/core/images";

/** Sample characters of each script. Chinese has a simplified and a traditional one. */
const scripts = [
  { name: "Latin", characters: "Rő" },
  { name: "Greek", characters: "Ψλ" },
  { name: "Cyrillic", characters: "Жд" },
  { name: "Arabic", characters: "عب" },
  { name: "Hebrew", characters: "שא" },
  { name: "Devanagari", characters: "कम" },
  { name: "Thai", characters: "กข" },
  { name: "Chinese", characters: "简體" },
  { name: "Japanese", characters: "あカ" },
  { name: "Korean", characters: "한글" },
  { name: "emoji", characters: "😀🎉" },
] as const;

/** The generic CSS font families that SVG pictures use (CSS Fonts 4, section 2.1.3). */
const families = ["sans-serif", "serif", "monospace"] as const;

/** A script, or emoji, that needs its own fonts. */
export type Script = (typeof scripts)[number]["name"];

/** A CSS font family that names a style, not a font. */
export type GenericFamily = (typeof families)[number];

/** The scripts and families of text in SVG pictures that the fonts of this machine cover. */
export interface FontCoverage {
  /** Scripts whose characters are drawn. Empty when no font is installed. */
  drawnScripts: Script[];
  /** Scripts whose characters are drawn as boxes or not at all. */
  missingScripts: Script[];
  /** Generic families that have no font of their own and look like another family. */
  alikeFamilies: GenericFamily[];
}

/**
 * Measures which scripts and families the fonts of this machine cover. It draws about forty pictures, one after the
 * other, of a few milliseconds each. Rejects as `Renderer.render` does.
 */
export async function measureFontCoverage(renderer: Renderer): Promise<FontCoverage> {
  const coverage: FontCoverage = { drawnScripts: [], missingScripts: [], alikeFamilies: [] };
  for (const { name, characters } of scripts) {
    const isDrawn = await areDrawn(renderer, characters);
    coverage[isDrawn ? "drawnScripts" : "missingScripts"].push(name);
  }
  const samples: { family: GenericFamily; drawn: Buffer }[] = [];
  for (const family of families) {
    samples.push({ family, drawn: await drawSilhouette(renderer, "Rgi", family) });
  }
  const alike = samples.filter((sample) =>
    samples.some((other) => other !== sample && other.drawn.equals(sample.drawn)),
  );
  coverage.alikeFamilies = alike.map(({ family }) => family);
  return coverage;
}

/** Whether a font for Latin letters is installed. Draws two pictures. Rejects as `Renderer.render` does. */
export async function hasLatinFont(renderer: Renderer): Promise<boolean> {
  return await areDrawn(renderer, "R");
}

/** Whether every character is drawn differently from a character that no font has. */
async function areDrawn(renderer: Renderer, characters: string): Promise<boolean> {
  for (const character of characters) {
    const drawn = await drawSilhouette(renderer, character);
    if (drawn.equals(await drawSilhouette(renderer, noncharacterLike(character)))) return false;
  }
  return true;
}

/**
 * A code point that will never be a character. Missing characters are drawn as boxes of four digits, or six beyond
 * U+FFFF.
 */
function noncharacterLike(character: string): string {
  return character.length === 1 ? "\u{fdd0}" : "\u{1fffe}";
}

/**
 * A PNG of the characters in which every stroke is widened by 12 pixels. Boxes then look the same whatever digits they
 * hold; letters still differ. Equal pixels give equal bytes.
 */
async function drawSilhouette(
  renderer: Renderer,
  text: string,
  family: GenericFamily = "sans-serif",
): Promise<Buffer> {
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="96" height="64">' +
    '<filter id="silhouette" filterUnits="userSpaceOnUse" x="0" y="0" width="96" height="64">' +
    '<feComponentTransfer><feFuncA type="linear" slope="255"/></feComponentTransfer>' +
    '<feMorphology operator="dilate" radius="12"/></filter>' +
    `<text x="16" y="44" font-size="32" font-family="${family}" filter="url(#silhouette)">${text}</text></svg>`;
  const source = { bytes: Buffer.from(svg) };
  const { bytes } = await renderer.render(source, "image/svg+xml", { format: "png" });
  return bytes;
}
