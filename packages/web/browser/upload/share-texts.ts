import type { SavedImage } from "../saved/saved-image.ts";

/** The formats of an image, with their usual names. */
export const SHARED_FORMATS = [
  { format: "png", label: "PNG" },
  { format: "jpg", label: "JPEG" },
  { format: "webp", label: "WebP" },
  { format: "avif", label: "AVIF" },
  { format: "gif", label: "GIF" },
  { format: "svg", label: "SVG" },
  { format: "psd", label: "PSD" },
  { format: "pdf", label: "PDF" },
] as const;

export type SharedFormat = (typeof SHARED_FORMATS)[number]["format"];

const ORIGINAL_FORMATS: ReadonlyMap<string, SharedFormat> = new Map<string, SharedFormat>([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/gif", "gif"],
  ["image/svg+xml", "svg"],
  ["image/x-photoshop", "psd"],
  ["application/pdf", "pdf"],
]);

type Shared = Pick<SavedImage, "id" | "url" | "name">;

/** The format of the original; PNG for an unknown type. */
export function originalFormat({ type }: Pick<SavedImage, "type">): SharedFormat {
  return ORIGINAL_FORMATS.get(type) ?? "png";
}

/** The format to offer first: the original, or PNG for types that browsers do not show. */
export function firstFormat(image: Pick<SavedImage, "type">): SharedFormat {
  const format = originalFormat(image);
  return isPicture(format) ? format : "png";
}

/** The page that shows the image. */
export function pageAddress({ url }: Shared): string {
  return `${url}/view`;
}

export function fileAddress({ id, url }: Shared, format: SharedFormat): string {
  return `${url.slice(0, -id.length)}api/images/${id}.${format}`;
}

/** Markdown: the picture linked to its page, or a link to a file that browsers do not show. */
export function markdownOf(image: Shared, format: SharedFormat): string {
  const text = image.name.replace(/[\\`*_[\]<>!]/g, "\\$&");
  const file = fileAddress(image, format);
  return isPicture(format) ? `[![${text}](${file})](${pageAddress(image)})` : `[${text}](${file})`;
}

/** HTML: the same as {@link markdownOf}. */
export function markupOf(image: Shared, format: SharedFormat): string {
  const text = image.name.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  const file = fileAddress(image, format);
  if (!isPicture(format)) return `<a href="${file}">${text}</a>`;
  return `<a href="${pageAddress(image)}"><img src="${file}" alt="${text}"></a>`;
}

function isPicture(format: SharedFormat): boolean {
  return format !== "psd" && format !== "pdf";
}
