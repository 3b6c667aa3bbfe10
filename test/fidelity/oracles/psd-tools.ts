import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programs, run } from "../../support/programs.ts";
import { type Rgba, readRgba } from "../picture.ts";
import type { Sample } from "../samples/sample.ts";

/** Writes `<number>.png` beside each `<number>.psd` that psd-tools reads: the merged picture or, without one, the layers. */
const READ_ALL = `
import sys
from psd_tools import PSDImage
for path in sys.stdin.read().splitlines():
    try:
        picture = PSDImage.open(path).composite(apply_icc=True)
        picture.convert("RGBA").save(path + ".png", compress_level=1)
    except Exception as error:
        print(path, type(error).__name__, error, file=sys.stderr)
`;

/** Draws samples as psd-tools reads them. `null`: it does not. */
export async function drawWithPsdTools(samples: readonly Sample[]): Promise<Map<string, Rgba | null>> {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-psd-tools-"));
  try {
    const paths = samples.map((_, index) => join(directory, `${index}.psd`));
    await Promise.all(samples.map(({ bytes }, index) => writeFile(paths[index] ?? "", bytes)));
    const { status, stderr } = await run(programs.psdPython, ["-W", "ignore", "-c", READ_ALL], {
      input: paths.join("\n"),
    });
    if (status !== 0) throw new Error(`psd-tools ended with ${status}: ${stderr}`);
    const drawn = new Map<string, Rgba | null>();
    for (const [index, { name }] of samples.entries())
      drawn.set(name, await readDrawing(`${paths[index]}.png`));
    return drawn;
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function readDrawing(path: string): Promise<Rgba | null> {
  const png = await readFile(path).catch(() => null);
  return png === null ? null : readRgba(png);
}

/** The merged picture as ImageMagick reads it, or `null`. */
export async function drawWithImageMagick(sample: Sample): Promise<Rgba | null> {
  const args = ["psd:-[0]", "-colorspace", "sRGB", "-depth", "8", "png32:-"];
  const { stdout, status } = await run(programs.convert, args, { input: sample.bytes });
  return status === 0 && stdout.length > 0 ? readRgba(stdout) : null;
}
