import type { OriginalType } from "@outrigger/core/images";

/** A file of the corpus. */
export interface Sample {
  /** Its type and what is special about it: `png/grey 16 bits interlaced`. Unique. */
  name: string;
  type: OriginalType;
  bytes: Buffer;
}

/** Short names of the types, as the corpus and its report use them. */
export const KINDS = {
  png: "image/png",
  jpeg: "image/jpeg",
  gif: "image/gif",
  svg: "image/svg+xml",
  psd: "image/x-photoshop",
  pdf: "application/pdf",
} as const satisfies Record<string, OriginalType>;

export type Kind = keyof typeof KINDS;

/** The kind of a sample, which begins its name. */
export function kindOf({ name }: Pick<Sample, "name">): Kind {
  return name.slice(0, name.indexOf("/")) as Kind;
}

export function sample(kind: Kind, name: string, bytes: Buffer): Sample {
  return { name: `${kind}/${name}`, type: KINDS[kind], bytes };
}

/** Red, green, blue and alpha, each 0 to 1. */
export type Shade = readonly [red: number, green: number, blue: number, alpha: number];

/**
 * A scene with slopes of colour, a disc, a dark diagonal and a bright corner, at a place from 0 to 1. No turn or mirroring of
 * it looks the same. It is opaque except for the disc's lower half.
 */
export function sceneAt(x: number, y: number): Shade {
  const alpha = (x - 0.65) ** 2 + (y - 0.55) ** 2 < 0.06 && y > 0.55 ? 0.4 : 1;
  if (x < 0.25 && y < 0.2) return [1, 0.95, 0.2, 1];
  if (Math.abs(x - y * 0.8) < 0.05) return [0.1, 0.05, 0.2, 1];
  if ((x - 0.65) ** 2 + (y - 0.55) ** 2 < 0.06) return [0.9, 0.2 + 0.3 * x, 0.15, alpha];
  return [0.2 + 0.6 * x, 0.3 + 0.5 * y, 0.8 - 0.5 * x * y, 1];
}

/** RGBA of 8 bits of the scene. */
export function sceneRgba(width: number, height: number, shade = sceneAt): Buffer {
  const pixels = Buffer.alloc(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const place = (y * width + x) * 4;
      for (const [channel, value] of shade((x + 0.5) / width, (y + 0.5) / height).entries()) {
        pixels[place + channel] = Math.round(value * 255);
      }
    }
  }
  return pixels;
}

/** RGB of 8 bits of the scene, on white. */
export function sceneRgb(width: number, height: number): Buffer {
  const rgba = sceneRgba(width, height);
  const rgb = Buffer.alloc(width * height * 3);
  for (let index = 0; index < rgb.length; index++) {
    const place = Math.floor(index / 3) * 4;
    const alpha = (rgba[place + 3] ?? 0) / 255;
    rgb[index] = Math.round((rgba[place + (index % 3)] ?? 0) * alpha + 255 * (1 - alpha));
  }
  return rgb;
}
