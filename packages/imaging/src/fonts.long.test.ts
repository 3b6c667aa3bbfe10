import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Renderer } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { hasLatinFont, measureFontCoverage } from "./fonts.ts";

const SCRIPTS = [
  ...["Latin", "Greek", "Cyrillic", "Arabic", "Hebrew", "Devanagari", "Thai"],
  ...["Chinese", "Japanese", "Korean", "emoji"],
];

let renderer: Renderer;
let directory: string;

beforeEach(() => {
  renderer = createRenderer({ workers: 1, timeoutMs: 60_000 });
  directory = mkdtempSync(join(tmpdir(), "outrigger-fonts-"));
});

afterEach(async () => {
  await renderer.close();
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

/** Only these fonts exist for render processes, which get the variables that begin so. */
function useFonts(configuration: string): void {
  const file = join(directory, "fonts.conf");
  writeFileSync(file, `<fontconfig>${configuration}</fontconfig>`);
  vi.stubEnv("FONTCONFIG_FILE", file);
}

test("hasLatinFont finds one among the fonts of this machine", async () => {
  expect(await hasLatinFont(renderer)).toBe(true);
});

test("hasLatinFont finds none without fonts", async () => {
  useFonts("");
  expect(await hasLatinFont(renderer)).toBe(false);
});

test("measureFontCoverage with one font, which only FONTCONFIG_FILE names, reports its scripts as drawn, others as missing, and all families as alike", async () => {
  mkdirSync(join(directory, "own"));
  copyFileSync("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", join(directory, "own", "letters.ttf"));
  useFonts(`<dir>${directory}/own</dir>`);
  const { drawnScripts, missingScripts, alikeFamilies } = await measureFontCoverage(renderer);
  expect(drawnScripts).toEqual(expect.arrayContaining(["Latin", "Greek", "Cyrillic"]));
  expect(missingScripts).toEqual(expect.arrayContaining(["Thai", "Chinese", "Japanese", "Korean"]));
  expect([...drawnScripts, ...missingScripts].sort()).toEqual(SCRIPTS.toSorted());
  expect(alikeFamilies).toEqual(["sans-serif", "serif", "monospace"]);
});
