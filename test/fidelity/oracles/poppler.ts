import { programs, run } from "../../support/programs.ts";
import { type Rgba, readRgba } from "../picture.ts";
import type { Sample } from "../samples/sample.ts";

/** The longer side at which poppler draws. Its own anti-aliasing at the compared size is coarser. */
const DRAWN = "768";
const AT_ONCE = 2;

/** Draws the first page of samples as poppler does. `null`: it does not open the sample. */
export async function drawWithPoppler(samples: readonly Sample[]): Promise<Map<string, Rgba | null>> {
  const drawn = new Map<string, Rgba | null>();
  const waiting = [...samples];
  const work = async () => {
    for (let sample = waiting.shift(); sample !== undefined; sample = waiting.shift()) {
      const args = ["-q", "-singlefile", "-f", "1", "-l", "1", "-cropbox", "-scale-to", DRAWN, "-png", "-"];
      const { stdout, status } = await run(programs.pdftoppm, args, { input: sample.bytes });
      drawn.set(sample.name, status === 0 && stdout.length > 0 ? await readRgba(stdout) : null);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return drawn;
}
