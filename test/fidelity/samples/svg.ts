import sharp from "sharp";
import { programs, run } from "../../support/programs.ts";
import { sampleSvgs } from "../../svg/samples.ts";
import { type Sample, sample, sceneRgba } from "./sample.ts";

/** SVGs of many features, of drawing programs, with embedded pictures, and in every encoding. */
export async function svgSamples(): Promise<Sample[]> {
  const texts = await embeddings();
  const written = Object.entries(await sampleSvgs()).map(([name, svg]) =>
    sample("svg", `as written: ${name}`, Buffer.from(svg)),
  );
  const made = Object.entries(texts).map(([name, svg]) => sample("svg", name, Buffer.from(svg)));
  return [...made, ...written, ...encodings(), ...(await byCairo(written))];
}

async function embeddings(): Promise<Record<string, string>> {
  const [width, height] = [24, 16];
  const scene = () => sharp(sceneRgba(width, height), { raw: { width, height, channels: 4 } });
  const pictures = {
    png: await scene().png().toBuffer(),
    jpeg: await scene().flatten({ background: "#fff" }).jpeg({ quality: 95 }).toBuffer(),
    gif: await scene().gif().toBuffer(),
    "svg+xml": Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="16"><circle cx="12" cy="8" r="8" fill="#a30"/></svg>',
    ),
  };
  const found: Record<string, string> = {};
  for (const [type, bytes] of Object.entries(pictures)) {
    const data = `data:image/${type};base64,${bytes.toString("base64")}`;
    for (const aspect of ["none", "xMidYMid meet", "xMinYMin slice"]) {
      found[`embedded ${type} ${aspect}`] = drawing(
        `<image x="5" y="5" width="50" height="30" preserveAspectRatio="${aspect}" href="${data}"/>`,
      );
    }
    found[`embedded ${type} of its own size`] = drawing(`<image x="5" y="5" xlink:href="${data}"/>`);
    found[`embedded ${type} in a pattern`] = drawing(
      `<pattern id="p" width="24" height="16" patternUnits="userSpaceOnUse"><image width="24" height="16" href="${data}"/></pattern><rect width="60" height="40" fill="url(#p)"/>`,
    );
  }
  const nested = encodeURIComponent(pictures["svg+xml"].toString());
  found["embedded SVG as text"] = drawing(
    `<image width="60" height="40" href="data:image/svg+xml,${nested}"/>`,
  );
  found["embedded SVG in an embedded SVG"] = drawing(
    `<image width="60" height="40" href="data:image/svg+xml;base64,${Buffer.from(found["embedded SVG as text"]).toString("base64")}"/>`,
  );
  return found;
}

function drawing(content: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="60" height="40">${content}</svg>`;
}

function encodings(): Sample[] {
  const text = (encoding: string) =>
    `<?xml version="1.0" encoding="${encoding}"?>${drawing('<desc>Grüße</desc><rect width="40" height="40" fill="#385"/>')}`;
  const swapped = (value: string) => Buffer.from(`\ufeff${value}`, "utf16le").swap16();
  const made: Record<string, Buffer> = {
    "UTF-8": Buffer.from(text("UTF-8")),
    "ISO-8859-1": Buffer.from(text("ISO-8859-1"), "latin1"),
    "windows-1252": Buffer.from(text("windows-1252"), "latin1"),
    "UTF-16 little-endian": Buffer.from(`\ufeff${text("UTF-16")}`, "utf16le"),
    "UTF-16 big-endian": swapped(text("UTF-16")),
  };
  return Object.entries(made).map(([name, bytes]) => sample("svg", `encoding ${name}`, bytes));
}

/** The written samples as cairo exports them, through rsvg-convert. */
async function byCairo(written: readonly Sample[]): Promise<Sample[]> {
  return Promise.all(
    written.slice(0, 25).map(async ({ name, bytes }) => {
      const { stdout, status, stderr } = await run(programs.rsvgConvert, ["-f", "svg"], { input: bytes });
      if (status !== 0) throw new Error(`rsvg-convert, ${name}: ${stderr}`);
      return sample("svg", `by cairo: ${name.slice("svg/as written: ".length)}`, stdout);
    }),
  );
}
