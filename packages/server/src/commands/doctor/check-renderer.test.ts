import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ServiceError } from "@outrigger/core";
import type { Renderer, RenderSource } from "@outrigger/core/images";
import { describe, expect, it, vi } from "vitest";
import { checkFonts, checkRenderer } from "./check-renderer.ts";

const PNG = Buffer.from("\x89PNG\r\n\x1a\n and so on", "latin1");

/** Real renderers cannot be made to fail in one specific way. */
function renderer(parts: Partial<Renderer> = {}): Renderer {
  return {
    build: "test",
    version: () => 1,
    measure: () => null,
    admit: async () => ({ width: 4, height: 4, pages: 1, cleaned: null }),
    render: async () => ({ bytes: PNG }),
    close: async () => {},
    ...parts,
  };
}

describe("checkRenderer", () => {
  it("renders a sample of every type", async () => {
    const findings = await checkRenderer(renderer());
    expect(findings.map(({ check, status }) => `${check} ${status}`)).toEqual([
      "renderer ok",
      "PNG ok",
      "JPEG ok",
      "GIF ok",
      "SVG ok",
      "PSD ok",
      "PDF ok",
    ]);
  });

  it.each([
    [
      { level: "bubblewrap", refusesProcesses: true, failures: [] },
      "ok",
      "bubblewrap; the kernel refuses new processes",
    ],
    [
      { level: "namespaces", failures: [{ level: "bubblewrap", reason: "bwrap: not found" }] },
      "ok",
      "namespaces; new processes are not refused, but measured and killed; bubblewrap does not work: bwrap: not found",
    ],
    [
      { level: "permissions", failures: [{ level: "namespaces", reason: "refused" }] },
      "warning",
      "permissions; namespaces does not work: refused",
    ],
    [{ level: "none", failures: [] }, "warning", "none; switched off"],
  ] as const)("reports the sandbox %j as %s: %s", async (sandbox, status, detail) => {
    const findings = await checkRenderer(renderer({ sandbox }));
    expect(findings.find(({ check }) => check === "sandbox")).toMatchObject({ status, detail });
  });

  it("warns of render processes of root, and of no other user", async () => {
    const sandbox = { level: "bubblewrap", failures: [] } as const;
    for (const [uid, count] of [
      [0, 1],
      [1000, 0],
    ] as const) {
      vi.spyOn(process, "getuid").mockReturnValue(uid);
      const findings = await checkRenderer(renderer({ sandbox }));
      vi.restoreAllMocks();
      expect(findings.filter(({ check, status }) => check === "user" && status === "warning")).toHaveLength(
        count,
      );
    }
  });

  it("reports a broken renderer once, with the innermost reason", async () => {
    const cause = new Error("It ended with SIGKILL.");
    const findings = await checkRenderer(
      renderer({ render: () => Promise.reject(new ServiceError("overloaded", "Not just now.", { cause })) }),
    );
    expect(findings).toMatchObject([
      { check: "renderer", status: "problem", detail: "does not work: It ended with SIGKILL." },
    ]);
  });

  it("reports each type that is rejected or not rendered", async () => {
    const findings = await checkRenderer(
      renderer({
        admit: async (_source, type) => {
          if (type === "image/jpeg") throw new ServiceError("unsupported_media", "This cannot be read.");
          return { width: 4, height: 4, pages: 1, cleaned: null };
        },
        render: async (_source, type) => ({
          bytes: type === "application/pdf" ? Buffer.from("GIF89a") : PNG,
        }),
      }),
    );
    expect(findings.filter(({ status }) => status !== "ok")).toMatchObject([
      { check: "JPEG", status: "problem", detail: "cannot be rendered: This cannot be read." },
      { check: "PDF", status: "problem", detail: "the rendition is not a PNG" },
    ]);
  });

  it("renders the cleaned original, then deletes it", async () => {
    const paths: string[] = [];
    const drawn: RenderSource[] = [];
    await checkRenderer(
      renderer({
        async render(source) {
          drawn.push(source);
          return { bytes: PNG };
        },
        admit: async (_source, _type, { cleanedPath }) => {
          paths.push(cleanedPath);
          await writeFile(cleanedPath, "clean");
          return { width: 4, height: 4, pages: 1, cleaned: { size: 5, sha256: "" } };
        },
      }),
    );
    expect(paths).toHaveLength(6);
    expect(drawn.filter((source) => "path" in source)).toEqual(paths.map((path) => ({ path })));
    expect(paths.filter((path) => existsSync(dirname(path)))).toEqual([]);
  });
});

/** Matches no text. */
const NOTHING = /(?!)/;

/** A machine whose fonts have the characters that `has` matches. `lookOf` names the look of each family. */
function machine(has: RegExp, lookOf = (family: string) => family): Renderer {
  return {
    build: "test",
    version: () => 1,
    measure: () => null,
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
