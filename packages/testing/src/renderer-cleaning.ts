import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Admission, AdmitOptions, OriginalType, Renderer, RenderSource } from "@outrigger/core/images";
import { actingPdf, samples, tellingSamples } from "./renderer-samples.ts";

const types = Object.keys(samples) as OriginalType[]; // The keys of a Record<OriginalType, …>.

/** One case of the suite. Each runs with its own renderer, so that the cases are independent. */
export type RendererCase = (renderer: Renderer) => Promise<void>;

/** How a renderer cleans a file before it is stored. */
export function checkCleaning(it: (name: string, body: RendererCase) => void): void {
  it("admit keeps a file without metadata or scripts unchanged", async (renderer) => {
    for (const type of types.filter((each) => each !== "image/svg+xml")) {
      const { admission, file } = await admit(renderer, { bytes: samples[type] }, type);
      // A PDF may be written anew, once, so that it has one reading.
      const again = type === "application/pdf" && file !== null;
      const last = again ? await admit(renderer, { bytes: file }, type) : { admission, file };
      assert.equal(last.admission.cleaned, null, type);
      assert.equal(last.file, null, type);
    }
  });

  it("admit removes personal metadata and executable content from a file", async (renderer) => {
    for (const { type, bytes, secret } of tellingSamples) {
      const { admission, file } = await admit(renderer, { bytes }, type);
      assert.ok(file !== null && admission.cleaned !== null, type);
      assert.ok(!file.includes(secret), `the secret is still in the ${type}`);
      assert.equal(admission.cleaned.size, file.length);
      assert.equal(admission.cleaned.sha256, createHash("sha256").update(file).digest("hex"));
      const again = await admit(renderer, { bytes: file }, type);
      assert.equal(again.admission.cleaned, null, `a cleaned ${type} needs no cleaning`);
    }
  });

  it("admit with keepMetadata keeps metadata, and still removes executable content", async (renderer) => {
    for (const { type, bytes, secret } of tellingSamples) {
      const { file } = await admit(renderer, { bytes }, type, { keepMetadata: true });
      if (type === "image/svg+xml") assert.ok(file !== null && !file.includes(secret));
      else assert.equal(file, null, type);
    }
  });

  it("admit removes the actions of a PDF unless keepPdfActions is set", async (renderer) => {
    const source = { bytes: actingPdf };
    for (const options of [{}, { keepMetadata: true }]) {
      const { file } = await admit(renderer, source, "application/pdf", options);
      assert.ok(file !== null && !file.includes("JavaScript") && !file.includes("app.alert"));
    }
    const { file } = await admit(renderer, source, "application/pdf", { keepPdfActions: true });
    assert.ok((file ?? actingPdf).includes("app.alert"));
    const all = { keepPdfActions: true, keepMetadata: true };
    assert.equal((await admit(renderer, source, "application/pdf", all)).file, null);
  });
}

/** Admits a file in its own directory, and returns the files left in that directory. */
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
