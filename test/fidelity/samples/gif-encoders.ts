import sharp from "sharp";
import { programs, run } from "../../support/programs.ts";
import { type Sample, sample, sceneRgba } from "./sample.ts";

export async function bySharp(): Promise<Sample[]> {
  const [width, height] = [100, 80];
  const scene = () => sharp(sceneRgba(width, height), { raw: { width, height, channels: 4 } });
  const frames = await Promise.all([0, 40, 80].map((hue) => scene().modulate({ hue }).png().toBuffer()));
  const animation = () => sharp(frames, { join: { animated: true } });
  const made: Record<string, Promise<Buffer>> = {
    plain: scene().gif().toBuffer(),
    "4 colours": scene().gif({ colours: 4 }).toBuffer(),
    progressive: scene().gif({ progressive: true }).toBuffer(),
    "without dither": scene().gif({ dither: 0 }).toBuffer(),
    animated: animation()
      .gif({ delay: [50, 50, 50] })
      .toBuffer(),
    "animated, between frames": animation()
      .gif({ interFrameMaxError: 8, interPaletteMaxError: 8 })
      .toBuffer(),
    "animated, loop once": animation().gif({ loop: 1 }).toBuffer(),
  };
  return Promise.all(
    Object.entries(made).map(async ([name, bytes]) => sample("gif", `by sharp, ${name}`, await bytes)),
  );
}

export async function byImageMagick(): Promise<Sample[]> {
  const [width, height] = [60, 40];
  const input = await sharp(sceneRgba(width, height), { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
  const moved = ["(", "+clone", "-roll", "+9+5", ")", "(", "+clone", "-negate", ")"];
  const forms: Record<string, string[]> = {
    plain: [],
    interlaced: ["-interlace", "GIF"],
    "87a": ["-alpha", "remove"],
    "8 colours": ["-colors", "8"],
    "two colours": ["-monochrome"],
    animated: [...moved, "-set", "delay", "10", "-loop", "0"],
    "animated, optimised": [...moved, "-set", "delay", "10", "-layers", "optimize"],
    "animated, disposal background": [...moved, "-set", "dispose", "background"],
    "animated, disposal previous": [...moved, "-set", "dispose", "previous"],
    "on a larger page": ["-repage", "100x90+20+30"],
    "with a comment": ["-set", "comment", "A comment"],
  };
  const samples: Sample[] = [];
  for (const [name, args] of Object.entries(forms)) {
    const { stdout, status, stderr } = await run(programs.convert, ["png:-", ...args, "gif:-"], { input });
    if (status !== 0) throw new Error(`ImageMagick, ${name}: ${stderr}`);
    samples.push(sample("gif", `by ImageMagick, ${name}`, stdout));
  }
  return samples;
}
