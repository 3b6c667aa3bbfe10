import type { Call } from "../../../contracts/call.ts";
import type { ImageView } from "../../../contracts/pages.ts";
import type { ImageFormat } from "../../../contracts/renderer.ts";
import type { LibraryContext } from "../../library/library-context.ts";
import { ALL_FORMATS } from "../../record/formats.ts";
import { formatUrl, imageUrl, isServable } from "../../record/image-links.ts";
import type { ImageRecord } from "../../record/image-record.ts";
import { parseReadParameters, requirePage } from "../../renditions/rendition-spec.ts";
import { isFree } from "../../renditions/sizes.ts";
import { resignAddress } from "../../renditions/write-address.ts";
import { baseUrl, type ImageContext } from "../image-context.ts";
import { requireUtf8Query } from "../read-body.ts";

/** The facts about an image for pages. @param page Page of a document, from 1. */
export function imageView(context: ImageContext, call: Call, record: ImageRecord, page = 1): ImageView {
  const base = baseUrl(context, call);
  const { id, name, type, size, width, height, pages, agent } = record;
  return {
    ...{ id, name, type, size, width, height, pages, agent, page },
    baseUrl: base,
    createdAt: new Date(record.createdAt).toISOString(),
    expiresAt: new Date(record.expiresAt).toISOString(),
    viewUrl: `${imageUrl(base, id)}/view`,
    links: Object.fromEntries(
      servableFormats(context.library, record).map((format) => [format, formatUrl(base, id, format)]),
    ),
    ...(isFree(context.settings.sizes)
      ? {}
      : { sign: (address: string) => resignAddress(base, id, address, context.library.reads) }),
  };
}

/** The page of a document in the viewer's address. Rejects with `bad_request` if it does not exist. */
export function pageShown(record: ImageRecord, search: string): number {
  requireUtf8Query(search);
  const query = new URLSearchParams(search);
  const { page } = parseReadParameters("png", (name) => (name === "page" ? query.get(name) : undefined));
  requirePage(record, page);
  return page ?? 1;
}

function servableFormats({ renderer }: LibraryContext, record: ImageRecord): ImageFormat[] {
  if (record.processing !== null) return [];
  return ALL_FORMATS.filter((format) => isServable(renderer, record, format));
}
