import { kindOf, kindOfBytes } from "../file-kinds.ts";
import { type ForeignKind, HEAD_BYTES, readForeignKind } from "./foreign-kind.ts";

/** A chosen file, with the media type of its bytes. */
export interface Intake {
  file: File;
  /** The kind from which the file has to be converted; `null` for files that are sent as they are. */
  foreign: ForeignKind | null;
}

/** Looks at the first bytes of a file: browsers guess types by file names, and many a `.webp` file is a JPEG. */
export async function readIntake(file: File): Promise<Intake> {
  try {
    const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
    const kind = kindOfBytes(head);
    if (kind === null || kind === kindOf(file)) return { file, foreign: readForeignKind(head) };
    const { name, lastModified } = file;
    return { file: new File([file], name, { type: kind.type, lastModified }), foreign: null };
  } catch {
    // Not readable, a folder for example: the upload reports that.
    return { file, foreign: null };
  }
}

/** The new file, with a note for its user. */
export interface ConvertedFile {
  file: File;
  note: string;
}

/** The new file, or the reason why there is none. */
export type Conversion = ConvertedFile | { file: null; refusal: string };

/** About 256 MB of decoded pixels. */
const MAX_PIXELS = 64_000_000;
const JPEG_QUALITY = 0.92;

let last: Promise<unknown> = Promise.resolve();

/** Turns a picture into PNG or JPEG. One picture at a time, because decoded pictures are large. Never rejects. */
export function convertFile(file: File, kind: ForeignKind): Promise<Conversion> {
  const conversion = last.then(() => convert(file, kind)).catch(() => refused(unreadable(kind)));
  last = conversion;
  return conversion;
}

async function convert(file: File, kind: ForeignKind): Promise<Conversion> {
  const url = URL.createObjectURL(new Blob([file], { type: kind.type }));
  try {
    const picture = new Image();
    picture.src = url;
    await new Promise((resolve, reject) => {
      picture.onload = resolve;
      picture.onerror = reject;
    });
    const { naturalWidth: width, naturalHeight: height } = picture;
    if (width * height > MAX_PIXELS) {
      return refused(
        `This picture is too large to convert (${width} × ${height}). Export it as PNG or JPEG.`,
      );
    }
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    if (context === null) return refused(unreadable(kind));
    context.drawImage(picture, 0, 0);
    const alpha = alphaOf(context, width, height);
    // Some browsers leave a canvas empty that is too large for them.
    if (alpha === "empty") return refused(unreadable(kind));
    const type = kind.isLossless || alpha === "some" ? "image/png" : "image/jpeg";
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, JPEG_QUALITY));
    // Frees the pixels now and not at the next garbage collection.
    canvas.width = 0;
    if (blob === null) return refused(unreadable(kind));
    const still = kind.isAnimated ? ". Only the first picture is kept" : "";
    return {
      file: new File([blob], convertedName(file.name, type), { type }),
      note: `Converted from ${kind.label}${still}`,
    };
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Whether all pixels are opaque, some are not, or none can be seen. */
function alphaOf(
  context: CanvasRenderingContext2D,
  width: number,
  height: number,
): "opaque" | "some" | "empty" {
  const rows = Math.max(1, Math.floor(1_000_000 / width));
  let hasVisible = false;
  let hasTransparent = false;
  for (let top = 0; top < height && !(hasVisible && hasTransparent); top += rows) {
    const { data } = context.getImageData(0, top, width, Math.min(rows, height - top));
    for (let at = 3; at < data.length; at += 4) {
      if (data[at] !== 0) hasVisible = true;
      if (data[at] !== 255) hasTransparent = true;
    }
  }
  if (!hasVisible) return "empty";
  return hasTransparent ? "some" : "opaque";
}

/** The name with the ending of its new type. */
export function convertedName(name: string, type: "image/png" | "image/jpeg"): string {
  const ending = type === "image/png" ? ".png" : ".jpg";
  return name.replace(/\.(?:webp|avifs?|hei[cf]s?|bmp|dib|png|jpe?g|jfif|gif)$/i, "") + ending;
}

function refused(refusal: string): Conversion {
  return { file: null, refusal };
}

function unreadable({ label }: ForeignKind): string {
  return label === "HEIC"
    ? "This browser can’t read HEIC. On an iPhone, choose Settings › Camera › Formats › Most Compatible, or export it as JPEG."
    : `This browser can’t convert this ${label} file. Export it as PNG or JPEG.`;
}
