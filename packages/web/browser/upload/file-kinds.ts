import { shortTypeName, typesText } from "../../src/formats.ts";
import { textsOverLimit } from "../../src/phrases.ts";
import { t } from "../../src/texts.ts";
import type { UploadConfig } from "./config.ts";

/** A kind of file that a service may accept. */
export interface FileKind {
  type: string;
  /** File name extensions, lower case. */
  endings: readonly string[];
  /** How its files start, one character per byte. Absent: they are text. */
  start?: RegExp;
}

const HEIC = "image/heic";
const FILE_KINDS: readonly FileKind[] = [
  { type: "image/png", endings: ["png"], start: /^\x89PNG/ },
  { type: "image/jpeg", endings: ["jpg", "jpeg", "jpe", "jfif"], start: /^\xff\xd8\xff/ },
  { type: "image/gif", endings: ["gif"], start: /^GIF8/ },
  { type: "image/svg+xml", endings: ["svg", "svgz"] },
  { type: "image/x-photoshop", endings: ["psd"], start: /^8BPS/ },
  { type: "application/pdf", endings: ["pdf"], start: /^%PDF/ },
  { type: "image/webp", endings: ["webp"], start: /^RIFF.{4}WEBP/s },
  { type: "image/avif", endings: ["avif"], start: /^.{4}ftypavi[fs]/s },
  { type: "image/tiff", endings: ["tif", "tiff"], start: /^(?:II\*\0|MM\0\*)/ },
  { type: HEIC, endings: ["heic", "heif"], start: /^.{4}ftyphe[iv]/s },
];
/** The longest start. */
const HEAD_BYTES = 12;

/** For the file chooser: types, and extensions for systems that do not know the types. Not HEIC, so that iOS converts it. */
export function acceptedFiles(types: readonly string[]): string {
  return FILE_KINDS.filter(({ type }) => type !== HEIC && types.includes(type))
    .flatMap(({ type, endings }) => [type, ...endings.map((ending) => `.${ending}`)])
    .join(",");
}

/** The kind by the browser's media type, or by extension when that type is unknown: few systems know PSD. */
export function kindOf({ name, type }: Pick<File, "name" | "type">): FileKind | null {
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  const byType = FILE_KINDS.find((kind) => kind.type === type.toLowerCase());
  return byType ?? FILE_KINDS.find((kind) => kind.endings.includes(ending)) ?? null;
}

/** Short name of a kind: `PNG`; `null` when it is unknown. */
export function labelOf(kind: FileKind | null): string | null {
  return kind && shortTypeName(kind.type);
}

/** The kind by the first bytes: browsers guess types by file names, and many a `.webp` file is a JPEG. Else by type and name. */
export async function readKind(file: File): Promise<FileKind | null> {
  try {
    return kindOfBytes(new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer())) ?? kindOf(file);
  } catch {
    // Not readable, a folder for example: the upload reports that.
    return kindOf(file);
  }
}

/** The kind by the first bytes; `null` for text, such as SVG, and for files of other kinds. */
export function kindOfBytes(head: Uint8Array): FileKind | null {
  const text = String.fromCharCode(...head.subarray(0, HEAD_BYTES));
  return FILE_KINDS.find(({ start }) => start?.test(text)) ?? null;
}

/**
 * The `Content-Type` to send. Browsers guess types by extension, and many a `.png` file is a JPEG, so the service
 * detects the type by the bytes. The exception is SVG, which the service cannot detect when it is compressed.
 */
export function sentType({ type }: FileKind): string {
  return type === "image/svg+xml" ? type : "application/octet-stream";
}

/** The reason not to send a file, for the page; `null` when it can be sent. */
export function refusalOf(
  { name, type, size }: Pick<File, "name" | "type" | "size">,
  kind: FileKind | null,
  { types, maxUploadBytes }: Pick<UploadConfig, "types" | "maxUploadBytes">,
): string | null {
  const isVideo = /^video\//.test(type) || /\.(mp4|mov|m4v|webm|mkv|avi)$/i.test(name);
  if (kind === null && isVideo) return t("uploads.video");
  if (kind === null || !types.includes(kind.type))
    return t("uploads.unsupported", { types: typesText(types) });
  if (size === 0) return t("uploads.empty");
  if (size > maxUploadBytes) {
    return t("uploads.tooLarge", textsOverLimit(size, maxUploadBytes));
  }
  return null;
}
