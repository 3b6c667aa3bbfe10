import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

// A server without locales, or with another one.
beforeEach(() => {
  vi.stubEnv("LANG", "C");
  vi.stubEnv("LC_ALL", "fr_FR.UTF-8");
  vi.stubEnv("LANGUAGE", "fr");
});
afterEach(() => vi.unstubAllEnvs());

const branches = [
  ["fr", "#ff0000"],
  ["de", "#00ff00"],
  ["en", "#0000ff"],
].map(([language, fill]) => `<rect systemLanguage="${language}" width="9" height="9" fill="${fill}"/>`);
const rest = '<rect width="9" height="9" fill="#888888"/>';
const switching = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><switch>${branches.join("")}${rest}</switch></svg>`;

test("<switch> draws its English branch, whatever the locale of the machine", async () => {
  const renderer = createRenderer({ workers: 1 });
  try {
    const source = { bytes: Buffer.from(switching) };
    const { bytes } = await renderer.render(source, "image/svg+xml", { format: "png" });
    const pixels = await sharp(bytes).removeAlpha().raw().toBuffer();
    expect([...pixels.subarray(0, 3)]).toEqual([0, 0, 255]);
  } finally {
    await renderer.close();
  }
});
