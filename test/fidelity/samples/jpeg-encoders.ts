import sharp, { type JpegOptions as SharpOptions } from "sharp";
import { programs, run } from "../../support/programs.ts";
import { type Sample, sample, sceneRgb } from "./sample.ts";

export async function bySharp(): Promise<Sample[]> {
  const [width, height] = [120, 90];
  const scene = () => sharp(sceneRgb(width, height), { raw: { width, height, channels: 3 } });
  const forms: Record<string, SharpOptions> = {
    plain: {},
    progressive: { progressive: true },
    mozjpeg: { mozjpeg: true },
    optimised: { optimiseCoding: true },
    trellis: { trellisQuantisation: true, overshootDeringing: true },
    "optimised scans": { progressive: true, optimiseScans: true },
  };
  const made: [string, Promise<Buffer>][] = [];
  for (const [name, options] of Object.entries(forms)) {
    for (const quality of [5, 75, 95]) {
      for (const chromaSubsampling of ["4:2:0", "4:4:4"]) {
        made.push([
          `${name} ${quality} ${chromaSubsampling}`,
          scene()
            .jpeg({ ...options, quality, chromaSubsampling })
            .toBuffer(),
        ]);
      }
      made.push([
        `${name} ${quality} grey`,
        scene()
          .greyscale()
          .jpeg({ ...options, quality })
          .toBuffer(),
      ]);
    }
  }
  for (const profile of ["srgb", "p3"])
    made.push([`with ${profile}`, scene().withIccProfile(profile).jpeg().toBuffer()]);
  made.push(["CMYK with a profile", scene().toColourspace("cmyk").withIccProfile("cmyk").jpeg().toBuffer()]);
  made.push(["CMYK", scene().toColourspace("cmyk").jpeg().toBuffer()]);
  return Promise.all(made.map(async ([name, bytes]) => sample("jpeg", `by sharp, ${name}`, await bytes)));
}

export async function byImageMagick(): Promise<Sample[]> {
  const [width, height] = [90, 60];
  const input = await sharp(sceneRgb(width, height), { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
  const forms: Record<string, string[]> = {
    plain: [],
    progressive: ["-interlace", "JPEG"],
    arithmetic: ["-define", "jpeg:arithmetic-coding=true"],
    "4x1": ["-sampling-factor", "4x1"],
    "1x2": ["-sampling-factor", "1x2"],
    "3x1": ["-sampling-factor", "3x1"],
    CMYK: ["-colorspace", "CMYK"],
    "CMYK progressive": ["-colorspace", "CMYK", "-interlace", "JPEG"],
    grey: ["-colorspace", "Gray"],
    RGB: ["-define", "jpeg:colorspace=RGB", "-colorspace", "sRGB"],
    "two colours": ["-threshold", "50%"],
    "with a comment": ["-set", "comment", "A comment"],
    "at 300 dpi": ["-density", "300", "-units", "PixelsPerInch"],
    "quality 1": ["-quality", "1"],
  };
  const samples: Sample[] = [];
  for (const [name, args] of Object.entries(forms)) {
    const { stdout, status, stderr } = await run(programs.convert, ["png:-", ...args, "jpeg:-"], { input });
    if (status !== 0) throw new Error(`ImageMagick, ${name}: ${stderr}`);
    samples.push(sample("jpeg", `by ImageMagick, ${name}`, stdout));
  }
  return samples;
}
