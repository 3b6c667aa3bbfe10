import type { ImageFormat } from "@outrigger/core/images";
import { FORMAT_OF_TYPE } from "../../src/formats.ts";
import type { SavedImage } from "../saved/saved-image.ts";

type Shared = Pick<SavedImage, "id" | "url" | "name" | "description">;

/** The format of the original; PNG for an unknown type. */
function originalFormat({ type }: Pick<SavedImage, "type">): ImageFormat {
  return FORMAT_OF_TYPE.get(type) ?? "png";
}

/** The format to offer first: the original, or PNG for types that browsers do not show. */
export function firstFormat(image: Pick<SavedImage, "type">): ImageFormat {
  const format = originalFormat(image);
  return isPicture(format) ? format : "png";
}

/** The page that shows the image. */
export function pageAddress({ url }: Shared): string {
  return `${url}/view`;
}

export function fileAddress({ id, url }: Shared, format: ImageFormat): string {
  return `${url.slice(0, -id.length)}api/images/${id}.${format}`;
}

/** Markdown: the picture linked to its page, or a link to a file that browsers do not show. */
export function markdownOf(image: Shared, format: ImageFormat): string {
  const text = altText(image, format).replace(/[\\`*_[\]<>!]/g, "\\$&");
  const file = fileAddress(image, format);
  return isPicture(format) ? `[![${text}](${file})](${pageAddress(image)})` : `[${text}](${file})`;
}

/** HTML: the same as {@link markdownOf}. */
export function markupOf(image: Shared, format: ImageFormat): string {
  const text = altText(image, format).replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  const file = fileAddress(image, format);
  if (!isPicture(format)) return `<a href="${file}">${text}</a>`;
  return `<a href="${pageAddress(image)}"><img src="${file}" alt="${text}"></a>`;
}

/** BBCode of forums: the same as {@link markdownOf}. It has no alternative text, and no way to escape brackets. */
export function bbCodeOf(image: Shared, format: ImageFormat): string {
  const file = fileAddress(image, format);
  return isPicture(format) ? `[url=${pageAddress(image)}][img]${file}[/img][/url]` : `[url]${file}[/url]`;
}

/** The description of a picture that has one; else the name. */
function altText({ name, description = name }: Shared, format: ImageFormat): string {
  return isPicture(format) ? description : name;
}

function isPicture(format: ImageFormat): boolean {
  return format !== "psd" && format !== "pdf";
}
