import { textsOverLimit } from "../../src/phrases.ts";

/** A kind of file that can be uploaded. */
export interface FileKind {
  label: string;
  type: string;
  /** File name extensions, lower case. */
  endings: readonly string[];
  /** How its files start, one character per byte. Absent: they are text. */
  start?: string;
}

export const FILE_KINDS: readonly FileKind[] = [
  { label: "PNG", type: "image/png", endings: ["png"], start: "\x89PNG" },
  {
    label: "JPEG",
    type: "image/jpeg",
    endings: ["jpg", "jpeg", "jpe", "jfif"],

    start: "\xff\xd8\xff",
  },
  { label: "GIF", type: "image/gif", endings: ["gif"], start: "GIF8" },
  { label: "SVG", type: "image/svg+xml", endings: ["svg", "svgz"] },
  { label: "PSD", type: "image/x-photoshop", endings: ["psd"], start: "8BPS" },
  { label: "PDF", type: "application/pdf", endings: ["pdf"], start: "%PDF" },
];

/** For the file chooser: media types, and extensions for systems that do not know the types. */
export const ACCEPTED = FILE_KINDS.flatMap(({ type, endings }) => [
  type,
  ...endings.map((ending) => `.${ending}`),
]).join(",");

/**
 * The kind by the browser's media type, or by extension when that type is not accepted: few systems know PSD. `null`
 * when the file is not accepted.
 */
export function kindOf({ name, type }: Pick<File, "name" | "type">): FileKind | null {
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  const byType = FILE_KINDS.find((kind) => kind.type === type.toLowerCase());
  return byType ?? FILE_KINDS.find((kind) => kind.endings.includes(ending)) ?? null;
}

/** The kind by the first bytes: browsers guess types by file names, and many a `.webp` file is a JPEG. Else by type and name. */
export async function readKind(file: File): Promise<FileKind | null> {
  try {
    return kindOfBytes(new Uint8Array(await file.slice(0, 4).arrayBuffer())) ?? kindOf(file);
  } catch {
    // Not readable, a folder for example: the upload reports that.
    return kindOf(file);
  }
}

/** The kind by the first bytes; `null` for text, such as SVG, and for files of other kinds. */
export function kindOfBytes(head: Uint8Array): FileKind | null {
  const text = String.fromCharCode(...head.subarray(0, 4));
  return FILE_KINDS.find(({ start }) => start !== undefined && text.startsWith(start)) ?? null;
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
  maxUploadBytes: number,
): string | null {
  const isVideo = /^video\//.test(type) || /\.(mp4|mov|m4v|webm|mkv|avi)$/i.test(name);
  if (kind === null && isVideo) return "Videos can’t be uploaded here.";
  if (kind === null) return "This file type isn’t supported. Use PNG, JPEG, GIF, SVG, PSD or PDF.";
  if (size === 0) return "This file is empty.";
  if (size > maxUploadBytes) {
    const texts = textsOverLimit(size, maxUploadBytes);
    return `This file is too large (${texts.size}). The limit is ${texts.limit}.`;
  }
  return null;
}

const PICTURE_ENDING = /\.(png|jpe?g|gif|svg|webp|avif|heic|bmp|tiff?|psd|pdf)$/i;

/** Whether a text is the address of an image: a `data:` URL of one, or a web address whose path ends like its file. */
export function isImageAddress(text: string): boolean {
  const address = text.trim();
  if (/\s/.test(address) || !URL.canParse(address)) return false;
  if (/^data:image\//i.test(address)) return true;
  const { protocol, pathname } = new URL(address);
  return /^https?:$/.test(protocol) && PICTURE_ENDING.test(pathname);
}
