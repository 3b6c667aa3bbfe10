import type { OriginalType } from "@outrigger/core/images";
import {
  animatedGif,
  emptyPdf,
  flatPsd,
  halfTransparentPng,
  jpegPhoto,
  svgDrawing,
} from "../support/pictures.ts";
import type { Random } from "./random.ts";

export interface NamedFile {
  title: string;
  type: OriginalType;
  bytes: Buffer;
}

/** An intact file of each type. */
export async function soundFiles(): Promise<NamedFile[]> {
  return [
    { title: "JPEG", type: "image/jpeg", bytes: await jpegPhoto(90, 60) },
    { title: "PNG", type: "image/png", bytes: await halfTransparentPng(64, 32) },
    { title: "GIF", type: "image/gif", bytes: await animatedGif(3, 40, 30) },
    { title: "SVG", type: "image/svg+xml", bytes: svgDrawing },
    { title: "PSD", type: "image/x-photoshop", bytes: flatPsd() },
    { title: "PDF", type: "application/pdf", bytes: emptyPdf() },
  ];
}

/** `bytes` with one to ten bytes changed, mostly near headers. */
export function corruptions(
  bytes: Buffer,
  random: Random,
  count: number,
): { title: string; bytes: Buffer }[] {
  return Array.from({ length: count }, () => {
    const changed = Buffer.from(bytes);
    const places = Array.from({ length: 1 + random.below(10) }, () => {
      const at = random.below(random.below(2) === 0 ? changed.length : Math.min(200, changed.length));
      changed[at] = random.pick([0, 0xff, 0x7f, 0x80, random.below(256)]);
      return at;
    });
    return { title: `changed at ${places.join(", ")}`, bytes: changed };
  });
}
