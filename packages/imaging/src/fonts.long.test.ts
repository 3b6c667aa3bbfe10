import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Renderer } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { hasLatinFont, measureFontCoverage } from "./fonts.ts";

const SCRIPTS = [
  ...["Latin", "Greek", "Cyrillic", "Arabic", "Hebrew", "Devanagari", "Thai"],
  ...["Chinese", "Japanese", "Korean", "emoji"],
];

let renderer: Renderer;

beforeEach(() => {
  renderer = createRenderer({ workers: 1, timeoutMs: 60_000 });
});

afterEach(() => renderer.close());

describe("measureFontCoverage with the fonts of this machine", () => {
  test("reports Latin as drawn, and every other script as drawn or missing", async () => {
    const { drawnScripts, missingScripts } = await measureFontCoverage(renderer);
    expect(drawnScripts).toContain("Latin");
    expect([...drawnScripts, ...missingScripts].sort()).toEqual(SCRIPTS.toSorted());
    expect(await hasLatinFont(renderer)).toBe(true);
  });
});

describe("measureFontCoverage without fonts", () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "outrigger-fonts-"));
    const file = join(directory, "fonts.conf");
    writeFileSync(file, "<fontconfig/>");
    // What begins so is handed on to render processes.
    vi.stubEnv("FONTCONFIG_FILE", file);
  });

  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(directory, { recursive: true });
  });

  test("reports every script as missing and every family as alike", async () => {
    expect(await measureFontCoverage(renderer)).toEqual({
      drawnScripts: [],
      missingScripts: SCRIPTS,
      alikeFamilies: ["sans-serif", "serif", "monospace"],
    });
    expect(await hasLatinFont(renderer)).toBe(false);
  });
});

describe("measureFontCoverage with fonts that only FONTCONFIG_FILE names", () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "outrigger-fonts-"));
    mkdirSync(join(directory, "own"));
    copyFileSync("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", join(directory, "own", "letters.ttf"));
    const file = join(directory, "fonts.conf");
    writeFileSync(file, `<fontconfig><dir>${directory}/own</dir></fontconfig>`);
    vi.stubEnv("FONTCONFIG_FILE", file);
  });

  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(directory, { recursive: true });
  });

  test("reports their scripts as drawn, although the sandbox shows no other file of theirs", async () => {
    const { drawnScripts } = await measureFontCoverage(renderer);
    expect(drawnScripts).toEqual(expect.arrayContaining(["Latin", "Greek", "Cyrillic"]));
  });
});
