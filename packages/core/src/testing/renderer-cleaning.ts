import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Admission, AdmitOptions, OriginalType, Renderer, RenderSource } from "../contracts/renderer.ts";
import { samples, tellingSamples } from "./renderer-samples.ts";

const types = Object.keys(samples) as OriginalType[]; // The keys of a Record<OriginalType, …>.

/** One case of the suite. Each runs with a renderer of its own, so that none leans on another. */
export type RendererCase = (renderer: Renderer) => Promise<void>;

/** What a renderer does to a file that is to be stored. */
export function checkCleaning(check: (name: string, body: RendererCase) => void): void {
  check("lets a file that tells nothing of anybody stay as it is", async (renderer) => {
    for (const type of types.filter((each) => each !== "image/svg+xml")) {
      const { admission, file } = await admit(renderer, { bytes: samples[type] }, type);
      assert.equal(admission.cleaned, null, type);
      assert.equal(file, null, type);
    }
  });

  check("rids a file of what it tells of people, and of what it could run", async (renderer) => {
    for (const { type, bytes, secret } of tellingSamples) {
      const { admission, file } = await admit(renderer, { bytes }, type);
      assert.ok(file !== null && admission.cleaned !== null, type);
      assert.ok(!file.includes(secret), `${type} tells no more`);
      assert.equal(admission.cleaned.size, file.length);
      assert.equal(admission.cleaned.sha256, createHash("sha256").update(file).digest("hex"));
      const again = await admit(renderer, { bytes: file }, type);
      assert.equal(again.admission.cleaned, null, `${type} is clean once it has been cleaned`);
    }
  });

  check("leaves metadata in a file where that is wanted, but nothing that runs", async (renderer) => {
    for (const { type, bytes, secret } of tellingSamples) {
      const { file } = await admit(renderer, { bytes }, type, { keepMetadata: true });
      if (type === "image/svg+xml") assert.ok(file !== null && !file.includes(secret));
      else assert.equal(file, null, type);
    }
  });
}

/** Admits a file in a directory of its own, and shows what was left there. */
export async function admit(
  renderer: Renderer,
  source: RenderSource,
  type: OriginalType,
  options: Omit<AdmitOptions, "cleanedPath"> = {},
): Promise<{ admission: Admission; file: Buffer | null }> {
  const directory = await mkdtemp(join(tmpdir(), "renderer-"));
  const cleanedPath = join(directory, "cleaned");
  try {
    const admission = await renderer.admit(source, type, { ...options, cleanedPath });
    const isThere = (await readdir(directory)).length > 0;
    return { admission, file: isThere ? await readFile(cleanedPath) : null };
  } finally {
    await rm(directory, { recursive: true });
  }
}
