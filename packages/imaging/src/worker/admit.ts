import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import {
  type Admission,
  type AdmitOptions,
  type OriginalType,
  type RenderSource,
  ServiceError,
  systemCode,
} from "@outrigger/core";
import type { Sharp } from "sharp";
import { fitInside } from "../shared/fit.ts";
import type { PictureLimits } from "../shared/wire.ts";
import { awaitLibvips } from "./libvips.ts";
import { openPicture } from "./open-picture.ts";
import { listPageSizes } from "./pdf/open-pdf.ts";
import { repairPdf } from "./pdf/repair-pdf.ts";
import type { Picture } from "./picture.ts";
import { stripMetadata } from "./privacy/strip-metadata.ts";
import { readSource } from "./read-source.ts";
import { cleanSvg } from "./svg/clean-svg.ts";

const THUMBNAIL = { maxWidth: 16, maxHeight: 16, enlarge: false, maxSide: 16, maxPixels: 256 };

/** `Renderer.admit`, in the worker. */
export async function admit(
  source: RenderSource,
  type: OriginalType,
  { cleanedPath, ...kept }: AdmitOptions,
  limits: PictureLimits,
): Promise<Admission> {
  const bytes = await readSource(source);
  if (type === "image/svg+xml") {
    const clean = cleanSvg(bytes);
    const info = await decodeAll(await openPicture(clean, type, limits), type, limits);
    return { ...info, cleaned: clean.equals(bytes) ? null : await writeCleaned([clean], cleanedPath) };
  }
  const isPdf = type === "application/pdf";
  // The repaired file is stored, so that renders and other programs need not repair it again.
  const readable = isPdf ? await repairPdf(bytes) : bytes;
  const info = await decodeAll(await openPicture(readable, type, limits), type, limits);
  const pageSizes = info.pages > 1 && isPdf ? await listPageSizes(readable) : null;
  const stripped = await stripMetadata(readable, type, kept);
  const pieces = stripped ?? (readable === bytes ? null : [readable]);
  return {
    ...info,
    ...(pageSizes === null ? {} : { pageSizes }),
    cleaned: pieces === null ? null : await writeCleaned(pieces, cleanedPath),
  };
}

/** Decodes every pixel, as cheaply as possible, and returns the size. */
async function decodeAll(picture: Picture, type: OriginalType, limits: PictureLimits) {
  await awaitLibvips(type, limits, (await cheapestDecode(picture, type)).raw().toBuffer());
  return { ...picture.natural, pages: picture.pages };
}

/** The cheapest pipeline that reads every byte of pixels, and so finds a fault anywhere. */
async function cheapestDecode(picture: Picture, type: OriginalType): Promise<Sharp> {
  if (type === "image/png") {
    // Decoding the last row decodes all rows before it; shrinking them would cost a quarter more.
    const { width, height } = picture.natural;
    return (await picture.decode()).extract({ left: 0, top: height - 1, width, height: 1 });
  }
  // A JPEG decodes directly to an eighth of its size, in a tenth of the time.
  const size = fitInside(picture.natural, THUMBNAIL);
  return (await picture.decode({ animated: true, drawnAs: size })).resize({ ...size, fit: "fill" });
}

/** Rejects with `no_space` or `store_unavailable`, as a store does. */
async function writeCleaned(
  pieces: readonly Buffer[],
  path: string,
): Promise<NonNullable<Admission["cleaned"]>> {
  const hash = createHash("sha256");
  let size = 0;
  for (const piece of pieces) {
    hash.update(piece);
    size += piece.length;
  }
  try {
    const file = await open(path, "wx", 0o600);
    try {
      for (const piece of pieces) await file.writeFile(piece);
    } finally {
      await file.close();
    }
  } catch (cause) {
    const code = systemCode(cause);
    const isFull = code === "ENOSPC" || code === "EDQUOT";
    throw new ServiceError(
      isFull ? "no_space" : "store_unavailable",
      isFull ? "There is no space left to store this image." : "The image cannot be stored just now.",
      { cause },
    );
  }
  return { size, sha256: hash.digest("hex") };
}
