import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  Admission,
  AdmitOptions,
  ImageInfo,
  OriginalType,
  Renderer,
  RenderSource,
} from "@outrigger/core/images";

/** Admits a file and discards the cleaned file: for tests of the reported facts and of refusals. */
export async function admitInfo(
  renderer: Renderer,
  source: RenderSource,
  type: OriginalType,
  kept: Pick<AdmitOptions, "keepMetadata"> = {},
): Promise<ImageInfo & Pick<Admission, "warnings">> {
  const directory = await mkdtemp(join(tmpdir(), "admit-"));
  try {
    const cleanedPath = join(directory, "cleaned");
    const { width, height, pages, warnings } = await renderer.admit(source, type, { ...kept, cleanedPath });
    return { width, height, pages, ...(warnings === undefined ? {} : { warnings }) };
  } finally {
    await rm(directory, { recursive: true });
  }
}
