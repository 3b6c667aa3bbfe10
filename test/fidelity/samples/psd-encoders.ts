import { writePsdBuffer } from "ag-psd";
import sharp from "sharp";
import { programs, run } from "../../support/programs.ts";
import { PSD_SIZE as SIZE } from "./psd-channels.ts";
import { type Sample, sample, sceneRgba } from "./sample.ts";

/** A profile that sharp brings. */
export async function profileOf(name: "cmyk" | "p3"): Promise<Buffer> {
  const dot = sharp({ create: { width: 1, height: 1, channels: 3, background: "#777777" } });
  const picture = name === "cmyk" ? dot.toColourspace("cmyk").jpeg() : dot.png();
  const { icc } = await sharp(await picture.withIccProfile(name).toBuffer()).metadata();
  if (icc === undefined) throw new Error("sharp wrote no profile");
  return icc;
}

export async function byImageMagick(): Promise<Sample[]> {
  const { width, height } = SIZE;
  const input = await sharp(sceneRgba(width, height), { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
  const colourForms: Record<string, string[]> = {
    plain: [],
    opaque: ["-background", "white", "-alpha", "remove", "-alpha", "off"],
    grey: ["-alpha", "off", "-colorspace", "Gray"],
    "grey with alpha": ["-colorspace", "Gray"],
    CMYK: ["-alpha", "off", "-colorspace", "CMYK"],
    "CMYK with alpha": ["-colorspace", "CMYK"],
    Lab: ["-alpha", "off", "-colorspace", "Lab"],
    bilevel: ["-alpha", "off", "-monochrome", "-type", "bilevel"],
    palette: ["-alpha", "off", "-colors", "16", "-type", "palette"],
    "three layers": ["(", "+clone", "-negate", "-repage", "+5+5", ")", "(", "+clone", "-flip", ")"],
  };
  const samples: Sample[] = [];
  for (const [name, args] of Object.entries(colourForms)) {
    for (const depth of ["8", "16"]) {
      for (const compression of depth === "8" ? ["None", "RLE"] : ["RLE"]) {
        const all = ["png:-", ...args, "-depth", depth, "-compress", compression, "psd:-"];
        const { stdout, status, stderr } = await run(programs.convert, all, { input });
        if (status !== 0) throw new Error(`ImageMagick, ${name}: ${stderr}`);
        samples.push(sample("psd", `by ImageMagick, ${name}, ${depth} bits, ${compression}`, stdout));
      }
    }
  }
  return samples;
}

const WRITE_WITH_PSD_TOOLS = `
import base64, io, json, sys
from PIL import Image
from psd_tools import PSDImage
from psd_tools.constants import Compression
picture = Image.open(io.BytesIO(sys.stdin.buffer.read())).convert("RGBA")
made = {}
for mode in ["L", "RGB", "RGBA", "CMYK"]:
    for compression in Compression:
        rgb = picture if mode == "RGBA" else picture.convert("RGB")
        stream = io.BytesIO()
        PSDImage.frompil(rgb.convert(mode), compression=compression).save(stream)
        made[f"{mode} {compression.name}"] = base64.b64encode(stream.getvalue()).decode()
json.dump(made, sys.stdout)
`;

export async function byPsdTools(): Promise<Sample[]> {
  const { width, height } = SIZE;
  const input = await sharp(sceneRgba(width, height), { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
  const { stdout, status, stderr } = await run(programs.psdPython, ["-c", WRITE_WITH_PSD_TOOLS], { input });
  if (status !== 0) throw new Error(`psd-tools: ${stderr}`);
  const made: Record<string, string> = JSON.parse(stdout.toString());
  return Object.entries(made).map(([name, bytes]) =>
    sample("psd", `by psd-tools, ${name}`, Buffer.from(bytes, "base64")),
  );
}

export function mergedByAgPsd(): Sample[] {
  const found: Sample[] = [];
  const scene = { ...SIZE, data: new Uint8ClampedArray(sceneRgba(SIZE.width, SIZE.height)) };
  const veil = { width: 20, height: 10, data: new Uint8ClampedArray(20 * 10 * 4).fill(128) };
  for (const psb of [false, true]) {
    for (const compress of [false, true]) {
      const document = {
        ...SIZE,
        imageData: scene,
        children: [
          { name: "Scene", imageData: scene },
          { left: 5, top: 5, imageData: veil },
        ],
      };
      const bytes = writePsdBuffer(document, { psb, compress });
      found.push(sample("psd", `by ag-psd, merged${psb ? " PSB" : ""}${compress ? " zip" : ""}`, bytes));
    }
  }
  return found;
}
