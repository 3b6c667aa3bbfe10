import { expect, test } from "vitest";
import { cleanSvg } from "../../packages/imaging/src/worker/svg/clean-svg.ts";
import { attackVectors } from "./vectors.ts";

const means = { script: "window.ran=1", elsewhere: "http://elsewhere.example" };

/** The remains of an attack after cleaning; empty for a refused file. */
function remains(svg: string | Buffer): string {
  try {
    return cleanSvg(Buffer.from(svg)).toString();
  } catch (error) {
    expect(error).toMatchObject({ code: "unsupported_media" });
    return "";
  }
}

/** Asserts that a clean document and the documents in it can neither run nor load anything. */
function expectHarmless(clean: string, title: string): void {
  expect(clean, title).not.toMatch(/elsewhere|script:|ran=1|\son\w+=|<(?:[\w.-]+:|script|foreignObject)/i);
  expect(clean, title).not.toMatch(/@import|\\|<[?!]/);
  for (const [, target = ""] of clean.matchAll(/href="([^"]*)"/g)) {
    const [, nested] = /^data:image\/svg\+xml;base64,(.*)$/.exec(target) ?? [];
    if (nested === undefined) expect(target, title).toMatch(/^#|^data:image\/(?:gif|jpeg|png|webp);base64,/);
    else expectHarmless(Buffer.from(nested, "base64").toString(), title);
  }
  for (const [, target] of clean.matchAll(/url\(([^)]*)\)/gi)) expect(target, title).toMatch(/^['"]?#/);
  expect(remains(clean), title).toBe(clean);
}

test("cleaning leaves nothing of any attack, in a file of its own and embedded in another SVG", () => {
  for (const { title, svg } of attackVectors(means)) {
    expectHarmless(remains(svg), title);
    const url = `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
    const clean = remains(`<svg xmlns="http://www.w3.org/2000/svg"><image href="${url}"/></svg>`);
    expect(clean, title).toContain("<image");
    expectHarmless(clean, title);
  }
});
