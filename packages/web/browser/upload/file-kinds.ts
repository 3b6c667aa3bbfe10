import { sizeText } from "../../src/phrases.ts";

/** A kind of file that can be uploaded. */
export interface FileKind {
  label: string;
  type: string;
  /** Of file names, lower case. */
  endings: readonly string[];
  /** Whether browsers show it in `<img>`. */
  isShown: boolean;
}

export const FILE_KINDS: readonly FileKind[] = [
  { label: "PNG", type: "image/png", endings: ["png"], isShown: true },
  { label: "JPEG", type: "image/jpeg", endings: ["jpg", "jpeg", "jpe", "jfif"], isShown: true },
  { label: "GIF", type: "image/gif", endings: ["gif"], isShown: true },
  { label: "SVG", type: "image/svg+xml", endings: ["svg", "svgz"], isShown: true },
  { label: "PSD", type: "image/x-photoshop", endings: ["psd"], isShown: false },
  { label: "PDF", type: "application/pdf", endings: ["pdf"], isShown: false },
];

/** For the file chooser: types, and endings for systems that know no type of theirs. */
export const ACCEPTED = FILE_KINDS.flatMap(({ type, endings }) => [
  type,
  ...endings.map((ending) => `.${ending}`),
]).join(",");

/** What is known of a file before anybody has read it. */
export type ChosenFile = Pick<File, "name" | "type" | "size">;

/** By the browser's type, or by the ending where it has none of ours: few systems know PSD. `null`: none that is accepted. */
export function kindOf({ name, type }: Pick<File, "name" | "type">): FileKind | null {
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  const byType = FILE_KINDS.find((kind) => kind.type === type.toLowerCase());
  return byType ?? FILE_KINDS.find((kind) => kind.endings.includes(ending)) ?? null;
}

/**
 * The `Content-Type` to send. Browsers guess types by endings, and many a `.png` is a JPEG: the service is left to tell by
 * the bytes, except for SVG, which it cannot tell when it is compressed.
 */
export function sentType({ type }: FileKind): string {
  return type === "image/svg+xml" ? type : "application/octet-stream";
}

/** Why a file need not be sent at all, in words for a person; `null`: nothing speaks against it. */
export function refusalOf(file: ChosenFile, maxUploadBytes: number): string | null {
  if (kindOf(file) === null) {
    return "Files of this kind can’t be uploaded here. PNG, JPEG, GIF, SVG, PSD and PDF can.";
  }
  if (file.size === 0) return "This file is empty.";
  if (file.size > maxUploadBytes) {
    return `This file is too large: it has ${sizeText(file.size)}, and ${sizeText(maxUploadBytes)} is the limit.`;
  }
  return null;
}
