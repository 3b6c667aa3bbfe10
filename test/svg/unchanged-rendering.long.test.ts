import sharp from "sharp";
import { expect, test } from "vitest";
import { cleanSvg } from "../../packages/imaging/src/worker/svg/clean-svg.ts";
import { sampleSvgs } from "./samples.ts";

const samples = Object.entries(await sampleSvgs());

async function pixels(svg: Buffer): Promise<{ size: number[]; data: Buffer }> {
  const { data, info } = await sharp(svg, { density: 144 })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { size: [info.width, info.height], data };
}

test("every sample is drawn the same after cleaning", async () => {
  for (const [name, svg] of samples) {
    const before = await pixels(Buffer.from(svg));
    const cleaned = cleanSvg(Buffer.from(svg));
    const after = await pixels(cleaned);
    expect(after.size, name).toEqual(before.size);
    expect(after.data.equals(before.data), name).toBe(true);
    // A blank picture would prove nothing.
    expect(new Set(before.data).size, name).toBeGreaterThan(1);
    expect(cleanSvg(cleaned).equals(cleaned), name).toBe(true);
  }
});

test("cleaning removes the names of people, files and programs", () => {
  for (const [, svg] of samples) {
    expect(cleanSvg(Buffer.from(svg)).toString()).not.toMatch(
      /someone|inkscape:|sodipodi|sketch:|Generator|<!|<\?/,
    );
  }
});

/** What drawing programs write, by SVG 1.1 and 2: not taken from the cleaner. */
const ELEMENTS =
  "a animate circle clipPath defs desc ellipse feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix " +
  "feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR " +
  "feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile " +
  "feTurbulence filter g image line linearGradient marker mask path pattern polygon polyline radialGradient rect stop " +
  "style switch symbol text textPath title tspan use view";
const ATTRIBUTES =
  "amplitude attributeName azimuth baseFrequency begin class clip-path clip-rule clipPathUnits color " +
  "color-interpolation-filters cx cy d display dominant-baseline dur dx dy elevation exponent fill fill-opacity " +
  "fill-rule filter flood-color flood-opacity font-family font-size font-style font-variant font-weight fr from fx fy " +
  "gradientTransform gradientUnits height id in kernelMatrix lengthAdjust letter-spacing limitingConeAngle marker-end " +
  "marker-mid marker-start markerHeight markerWidth mask maskContentUnits mode numOctaves offset opacity operator order " +
  "orient overflow paint-order patternUnits points pointsAtX pointsAtY preserveAlpha preserveAspectRatio r radius refX " +
  "refY result rotate rx ry scale specularExponent spreadMethod stdDeviation stitchTiles stop-color stop-opacity stroke " +
  "stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-width surfaceScale systemLanguage " +
  "tableValues text-anchor text-decoration textLength to transform type values vector-effect viewBox visibility width " +
  "writing-mode x xChannelSelector y z";

test("cleaning keeps every element and attribute that draws", () => {
  const shell = (content: string) => `<svg xmlns="http://www.w3.org/2000/svg">${content}</svg>`;
  const cleaned = (content: string) => cleanSvg(Buffer.from(shell(content))).toString();
  const elements = ELEMENTS.split(" ").filter(
    (name) => !cleaned(`<g><${name}></${name}></g>`).includes(`<${name}`),
  );
  const attributes = ATTRIBUTES.split(" ").filter(
    (name) => !cleaned(`<rect ${name}="1"/>`).includes(` ${name}="1"`),
  );
  expect([elements, attributes]).toEqual([[], []]);
});
