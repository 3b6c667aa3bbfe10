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

test.each(attackVectors(means))("cleaning leaves nothing of the attack: $title", ({ svg }) => {
  const clean = remains(svg);
  expect(clean).not.toMatch(/elsewhere|script:|ran=1|\son\w+=|<(?:[\w.-]+:|script|foreignObject)/i);
  expect(clean).not.toMatch(/@import|\\|<[?!]/);
  for (const [, target] of clean.matchAll(/href="([^"]*)"/g)) {
    expect(target).toMatch(/^#|^data:image\/(?:gif|jpeg|png|webp);base64,/);
  }
  for (const [, target] of clean.matchAll(/url\(([^)]*)\)/gi)) expect(target).toMatch(/^['"]?#/);
  expect(remains(clean)).toBe(clean);
});
