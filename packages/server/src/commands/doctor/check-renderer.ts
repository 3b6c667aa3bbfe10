import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Renderer } from "@outrigger/core";
import { systemTemporaryDirectory } from "@outrigger/core/stores";
import { reasonOf } from "../../cli/error-reason.ts";
import { type Finding, ok, problem } from "./finding.ts";
import { type Sample, samples } from "./samples.ts";

const PICTURE = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>');
const PNG_SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const REMEDY = "Reinstall the packages (npm ci), and check the limits under renderer in the configuration";

/** Whether render processes start, and accept and render a tiny original of every type. */
export async function checkRenderer(renderer: Renderer): Promise<Finding[]> {
  const start = await tryStart(renderer);
  if (start.status === "problem") return [start];
  const findings = [start];
  const directory = await mkdtemp(join(systemTemporaryDirectory(), "doctor-"));
  try {
    for (const sample of samples) {
      findings.push(await trySample(renderer, sample, join(directory, sample.name)));
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return findings;
}

async function tryStart(renderer: Renderer): Promise<Finding> {
  const begun = performance.now();
  try {
    await renderer.render({ bytes: PICTURE }, "image/svg+xml", { format: "png" });
  } catch (error) {
    return problem("renderer", `does not work: ${reasonOf(error)}`, REMEDY);
  }
  return ok("renderer", `started in ${millisecondsSince(begun)}`);
}

async function trySample(renderer: Renderer, sample: Sample, cleanedPath: string): Promise<Finding> {
  const { name, type, bytes } = sample;
  if (!renderer.canRender(type, "png"))
    return problem(name, "this renderer does not support it", "Update @outrigger/imaging");
  const begun = performance.now();
  try {
    const { cleaned } = await renderer.admit({ bytes }, type, { cleanedPath });
    const stored = cleaned === null ? { bytes } : { path: cleanedPath };
    const rendition = await renderer.render(stored, type, { format: "png" });
    if (!rendition.bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) {
      return problem(name, "the rendition is not a PNG", REMEDY);
    }
  } catch (error) {
    return problem(name, `cannot be rendered: ${reasonOf(error)}`, REMEDY);
  }
  return ok(name, `rendered in ${millisecondsSince(begun)}`);
}

function millisecondsSince(begun: number): string {
  return `${Math.round(performance.now() - begun)} ms`;
}
