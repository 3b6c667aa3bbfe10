import type { Renderer } from "@outrigger/core/images";
import { describe, expect, it } from "vitest";
import { checkFonts } from "./check-fonts.ts";

/** Matches no text. */
const NOTHING = /(?!)/;

/** A machine whose fonts have the characters that `has` matches. `lookOf` names the look of each family. */
function machine(has: RegExp, lookOf = (family: string) => family): Renderer {
  return {
    build: "test",
    look: () => 1,
    measure: () => null,
    canRender: () => true,
    admit: () => Promise.reject(new Error("not asked")),
    async render(source) {
      const svg = "bytes" in source ? Buffer.from(source.bytes).toString() : "";
      const [, family = "", text = ""] = /font-family="([^"]+)"[^>]*>([^<]*)<\/text>/.exec(svg) ?? [];
      return { bytes: Buffer.from(has.test(text) ? `${lookOf(family)}: ${text}` : "box") };
    },
    close: async () => {},
  };
}

describe("checkFonts", () => {
  it("reports ok for a machine with all fonts", async () => {
    const findings = await checkFonts(machine(/^[\p{L}\p{M}\p{Emoji}]+$/u));
    expect(findings.map(({ check }) => check)).toEqual([
      "fonts",
      ...["Latin", "Greek", "Cyrillic", "Arabic", "Hebrew", "Devanagari", "Thai"].map((s) => `${s} text`),
      ...["Chinese", "Japanese", "Korean", "emoji"].map((s) => `${s} text`),
    ]);
    expect(findings.filter(({ status }) => status !== "ok")).toEqual([]);
  });

  it("reports one problem if no font is installed", async () => {
    expect(await checkFonts(machine(NOTHING))).toEqual([
      {
        check: "fonts",
        status: "problem",
        detail: "no font is installed: text in SVG pictures becomes boxes or disappears",
        remedy: "Install fonts, e.g. with apt-get install fonts-dejavu-core",
      },
    ]);
  });

  it("warns about each script without a font and names the package to install", async () => {
    const findings = await checkFonts(machine(/^[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Hebrew}]+$/u));
    const warnings = findings.filter(({ status }) => status === "warning");
    expect(warnings.map(({ check, remedy }) => `${check}: ${remedy?.split(" ").at(-1)}`)).toEqual([
      "Arabic text: fonts-noto-core",
      "Devanagari text: fonts-noto-core",
      "Thai text: fonts-noto-core",
      "Chinese text: fonts-noto-cjk",
      "Japanese text: fonts-noto-cjk",
      "Korean text: fonts-noto-cjk",
      "emoji text: fonts-noto-color-emoji",
    ]);
    expect(findings.some(({ status }) => status === "problem")).toBe(false);
  });

  it("warns about a script if fonts have only some of its characters", async () => {
    const findings = await checkFonts(machine(/^[\p{sc=Latin}體]+$/u));
    expect(findings.find(({ check }) => check === "Chinese text")).toMatchObject({ status: "warning" });
  });

  it("warns about font families that look the same", async () => {
    const [fonts] = await checkFonts(machine(/./, (family) => (family === "serif" ? "sans-serif" : family)));
    expect(fonts).toMatchObject({ status: "warning", detail: "sans-serif and serif look the same" });
  });

  it("reports why the renderer failed", async () => {
    const broken = { ...machine(/./), render: () => Promise.reject(new Error("no luck")) };
    expect(await checkFonts(broken)).toMatchObject([
      { status: "problem", detail: "could not be checked: no luck" },
    ]);
  });
});
