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
function expectHarmless(clean: string): void {
  expect(clean).not.toMatch(/elsewhere|script:|ran=1|\son\w+=|<(?:[\w.-]+:|script|foreignObject)/i);
  expect(clean).not.toMatch(/@import|\\|<[?!]/);
  for (const [, target = ""] of clean.matchAll(/href="([^"]*)"/g)) {
    const [, nested] = /^data:image\/svg\+xml;base64,(.*)$/.exec(target) ?? [];
    if (nested === undefined) expect(target).toMatch(/^#|^data:image\/(?:gif|jpeg|png|webp);base64,/);
    else expectHarmless(Buffer.from(nested, "base64").toString());
  }
  for (const [, target] of clean.matchAll(/url\(([^)]*)\)/gi)) expect(target).toMatch(/^['"]?#/);
  expect(remains(clean)).toBe(clean);
}

test.each(attackVectors(means))("cleaning leaves nothing of the attack: $title", ({ svg }) => {
  expectHarmless(remains(svg));
});

test.each(attackVectors(means))(
  "cleaning leaves nothing of the attack in an embedded SVG: $title",
  ({ svg }) => {
    const url = `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
    const clean = remains(`<svg xmlns="http://www.w3.org/2000/svg"><image href="${url}"/></svg>`);
    expect(clean).toContain("<image");
    expectHarmless(clean);
  },
);
