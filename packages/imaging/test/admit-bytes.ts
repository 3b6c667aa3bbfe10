import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ImageInfo, OriginalType, Renderer, RenderSource } from "@outrigger/core";

/** Admits a file and throws away what was cleaned: for tests of what is measured and what is refused. */
export async function admitInfo(
  renderer: Renderer,
  source: RenderSource,
  type: OriginalType,
): Promise<ImageInfo> {
  const directory = await mkdtemp(join(tmpdir(), "admit-"));
  try {
    const cleanedPath = join(directory, "cleaned");
    const { width, height, pages } = await renderer.admit(source, type, { cleanedPath });
    return { width, height, pages };
  } finally {
    await rm(directory, { recursive: true });
  }
}
