import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { bytesText } from "../../amounts.ts";
import type { PictureEdits, Watermark, WatermarkPlace } from "../../contracts/picture-edits.ts";
import { isError } from "../../errors.ts";
import * as rules from "../../option-rules.ts";
import { byteLength } from "../../option-values.ts";
import { sniffType } from "../record/sniff.ts";

const MAX_WATERMARK_BYTES = 1024 ** 2;
const WATERMARK_TYPES = ["image/png", "image/jpeg", "image/svg+xml"] as const satisfies Watermark["type"][];
const PLACES = [
  ...(["center", "north", "north-east", "east", "south-east"] as const),
  ...(["south", "south-west", "west", "north-west"] as const),
] satisfies WatermarkPlace[];

const number = (min: number, max: number) =>
  rules.value<number>(
    `a number from ${min} to ${max}`,
    (given) => typeof given === "number" && given >= min && given <= max,
  );

const WATERMARK_RULES = {
  /**
   * A PNG, JPEG or SVG of at most 1 MiB: its path, or its bytes. Read when the service is created. A relative
   * path starts at the working directory, or at the directory of the configuration file.
   */
  image: rules.required(
    rules.refined(
      rules.value<string | Uint8Array>("the path or the bytes of an image", isPathOrBytes),
      bytesFaults,
    ),
  ),
  /**
   * Place on the picture: `center`, or a point of the compass with north at the top, such as `south-east`.
   * @default "south-east"
   */
  at: rules.oneOf(...PLACES),
  /** Share of the picture's width, 0.01 to 1, made smaller to fit between the margins. @default 0.25 */
  width: number(0.01, 1),
  /** 0.01 to 1, multiplied with the image's own transparency. @default 1 */
  opacity: number(0.01, 1),
  /** Distance from the edges as a share of the picture's shorter side, 0 to 0.4. @default 0.03 */
  margin: number(0, 0.4),
};

/** An image that is drawn on top of a picture. */
export interface WatermarkOptions extends rules.Options<typeof WATERMARK_RULES> {}

/** The rules of {@link PictureEditOptions}. */
export const EDIT_RULES = {
  /** Degrees clockwise. The turned picture fits the box of `resize`. @default no rotation */
  rotate: rules.value<90 | 180 | 270>("90, 180 or 270", (given) =>
    [90, 180, 270].some((turn) => turn === given),
  ),
  /** An image drawn on top, in its own colours. @default none */
  watermark: rules.nested(WATERMARK_RULES),
};

/** Edits of the finished picture. They apply in this order: rotate, watermark. */
export interface PictureEditOptions extends rules.Options<typeof EDIT_RULES> {}

function isPathOrBytes(given: unknown): boolean {
  return typeof given === "string" ? given.trim() !== "" : byteLength(given) >= 0;
}

/** A file is read later: the path in a configuration file is not resolved yet when it is checked. */
function bytesFaults(image: string | Uint8Array): rules.OptionProblem[] {
  const fault = typeof image === "string" ? null : faultOf(bufferOf(image));
  return fault === null ? [] : [{ path: "", text: fault }];
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

function faultOf(bytes: Buffer): string | null {
  if (bytes.length > MAX_WATERMARK_BYTES) return `must have at most ${bytesText(MAX_WATERMARK_BYTES)}`;
  return typeOf(bytes) === undefined ? "must be a PNG, a JPEG or an SVG" : null;
}

function typeOf(bytes: Buffer): Watermark["type"] | undefined {
  const sniffed = sniffType(bytes);
  return WATERMARK_TYPES.find((type) => type === sniffed);
}

/**
 * Reads and checks the image of a watermark.
 * @throws TypeError whose message is a clause: "cannot be read: …" or "must …".
 */
export function readWatermark(image: string | Uint8Array): Buffer {
  const bytes = typeof image === "string" ? readImage(image) : bufferOf(image);
  const fault = faultOf(bytes);
  if (fault !== null) throw new TypeError(fault);
  return bytes;
}

function readImage(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new TypeError(`cannot be read: ${isError(cause) ? cause.message : cause}`, { cause });
  }
}

/**
 * The edits of a preset; `undefined`: none.
 * @param path Path of the preset, for messages.
 * @throws TypeError for a watermark that cannot be read.
 */
export function editsOf(path: string, options: PictureEditOptions): PictureEdits | undefined {
  const { rotate, watermark } = options;
  const edits: Omit<PictureEdits, "digest"> = {
    ...(rotate === undefined ? {} : { rotate }),
    ...(watermark === undefined ? {} : { watermark: watermarkOf(path, watermark) }),
  };
  if (Object.keys(edits).length === 0) return undefined;
  const digest = createHash("sha256").update(JSON.stringify(edits)).digest("hex").slice(0, 16);
  return { digest, ...edits };
}

function watermarkOf(path: string, options: WatermarkOptions): Watermark {
  const { at = "south-east", width = 0.25, opacity = 1, margin = 0.03 } = options;
  try {
    const bytes = readWatermark(options.image);
    // A checked image has one of the types.
    const type = typeOf(bytes) as Watermark["type"];
    return { image: bytes.toString("base64"), type, at, width, opacity, margin };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new TypeError(`createImages: ${path}.watermark.image ${error.message}`, { cause: error });
  }
}
