import type { ImageFormat } from "@outrigger/core/images";
import { FORMAT_OF_TYPE } from "../../src/formats.ts";
import type { SharedFile } from "../../src/share.ts";
import type { SavedImage } from "../saved/saved-image.ts";

type Shared = Pick<SavedImage, "id" | "url" | "name" | "description" | "type">;

/** The page that shows the image. */
export function pageAddress({ url }: Pick<Shared, "url">): string {
  return `${url}/view`;
}

export function fileAddress({ id, url }: Pick<Shared, "id" | "url">, format: ImageFormat): string {
  return `${url.slice(0, -id.length)}api/images/${id}.${format}`;
}

/** The file to share of an image: the original, or a PNG of types that browsers do not show. */
export function sharedFile(image: Shared): SharedFile {
  const original = FORMAT_OF_TYPE.get(image.type ?? "") ?? "png";
  const format = original === "psd" || original === "pdf" ? "png" : original;
  const { name, description = name } = image;
  return { file: fileAddress(image, format), page: pageAddress(image), text: description, isPicture: true };
}
