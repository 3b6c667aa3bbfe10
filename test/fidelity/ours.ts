import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { isServiceError } from "@outrigger/core";
import type { ImageFormat, Renderer, RenditionSpec } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import { BOX, type Rgba, readRgba } from "./picture.ts";
import type { Sample } from "./samples/sample.ts";

const WORKERS = 2;
/** One of these is rendered besides PNG, chosen by the name of the sample. */
const OTHER_FORMATS: readonly ImageFormat[] = ["jpg", "webp", "gif", "pdf", "psd", "svg", "avif"];

/** What we made of a sample: a picture, or the reason for its refusal. */
export type Outcome = { picture: Rgba } | { refusal: string };

/** Admits samples and renders each as PNG and as one more format. */
export async function renderAll(samples: readonly Sample[]): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  const directory = await mkdtemp(join(tmpdir(), "outrigger-fidelity-"));
  const renderer = createRenderer({ workers: WORKERS });
  const waiting = [...samples];
  const work = async () => {
    for (let sample = waiting.shift(); sample !== undefined; sample = waiting.shift()) {
      outcomes.set(sample.name, await renderOne(renderer, sample, directory));
    }
  };
  try {
    await Promise.all(Array.from({ length: WORKERS + 1 }, work));
  } finally {
    await renderer.close();
    await rm(directory, { recursive: true });
  }
  return outcomes;
}

async function renderOne(renderer: Renderer, sample: Sample, directory: string): Promise<Outcome> {
  const { type, bytes } = sample;
  const cleanedPath = join(directory, randomUUID());
  try {
    const { cleaned } = await renderer.admit({ bytes }, type, { cleanedPath });
    const source = cleaned === null ? { bytes } : { path: cleanedPath };
    const png: RenditionSpec = { format: "png", maxWidth: BOX, maxHeight: BOX };
    const first = await renderer.render(source, type, png);
    const format = OTHER_FORMATS[crc32(sample.name) % OTHER_FORMATS.length] ?? "jpg";
    const other = { ...png, format };
    await renderer.render(source, type, other);
    return { picture: await readRgba(first.bytes) };
  } catch (error) {
    // The machine was busy: the file is not to blame.
    if (isServiceError(error, "overloaded")) return renderOne(renderer, sample, directory);
    return { refusal: error instanceof Error ? error.message : String(error) };
  }
}
