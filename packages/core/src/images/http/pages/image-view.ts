import type { Call } from "../../../contracts/call.ts";
import type { ImageView } from "../../../contracts/pages.ts";
import type { ImageFormat } from "../../../contracts/renderer.ts";
import { HttpProblem } from "../../../http/problem.ts";
import type { LibraryContext } from "../../library/library-context.ts";
import { ALL_FORMATS } from "../../record/formats.ts";
import { detailsOf, formatUrl, imageUrl, isServable } from "../../record/image-links.ts";
import type { ImageRecord } from "../../record/image-record.ts";
import { readinessOf } from "../../record/image-state.ts";
import { isFree } from "../../renditions/presets.ts";
import { parseReadParameters } from "../../renditions/read-parameters.ts";
import { pageCount } from "../../renditions/read-request.ts";
import { resignAddress } from "../../renditions/write-address.ts";
import { baseUrl, type ImageContext, placeOf, requireUtf8Query } from "../image-context.ts";

/** The facts about an image for pages. @param page Page of a document, from 1. */
export function imageView(context: ImageContext, call: Call, record: ImageRecord, page = 1): ImageView {
  const base = baseUrl(context, call);
  const {
    url: _url,
    source: _source,
    color: _color,
    status,
    updatedAt: _updatedAt,
    ...details
  } = detailsOf(base, record);
  const { id } = details;
  return {
    ...details,
    ...sizeOfPage(record, page),
    ...(status === "held" ? { isHeld: true as const } : {}),
    page,
    ...placeOf(context, call),
    maxLifetimeMs: context.settings.maxLifetimeMs,
    viewUrl: `${imageUrl(base, id)}/view`,
    ...reportLink(context, base, id),
    links: Object.fromEntries(
      servableFormats(context.library, record).map((format) => [format, formatUrl(base, id, format)]),
    ),
    ...(isFree(context.settings.sizes)
      ? {}
      : { sign: (address: string) => resignAddress(base, id, address, context.library.reads) }),
  };
}

/** The link to report an image; none where there is no form for it. */
export function reportLink(
  { pages, settings }: ImageContext,
  base: string,
  id: string,
): { reportUrl?: string } {
  const hasForm = settings.reportHours !== null && pages?.report !== undefined;
  return hasForm ? { reportUrl: `${imageUrl(base, id)}/report` } : {};
}

/**
 * The page of a document in the viewer's address. Rejects with `bad_request` for a malformed number, and with 404 for a
 * page that the document does not have; `Link` then names its first and last page.
 */
export function pageShown(base: string, search: string, record: ImageRecord): number {
  requireUtf8Query(search);
  const query = new URLSearchParams(search);
  const { page = 1 } = parseReadParameters("png", (name) => (name === "page" ? query.get(name) : undefined));
  const last = pageCount(record);
  if (page <= last) return page;
  const first = `${imageUrl(base, record.id)}/view`;
  throw new HttpProblem({
    status: 404,
    detail: `There is no page ${page}: this ${record.type === "application/pdf" ? "document" : "image"} has ${last === 1 ? "1 page" : `${last} pages`}.`,
    headers: {
      Link: [`<${first}>; rel="first"`, ...(last === 1 ? [] : [`<${first}?page=${last}>; rel="last"`])].join(
        ", ",
      ),
    },
  });
}

/** Size of a page in pixels; `null`: unknown. */
function sizeOfPage(record: ImageRecord, page: number): Pick<ImageRecord, "width" | "height"> {
  if (page === 1) return { width: record.width, height: record.height };
  const [, width, height] = record.pageSizes?.findLast(([firstPage]) => firstPage <= page) ?? [0, 0, 0];
  return width === 0 ? { width: null, height: null } : { width, height };
}

function servableFormats({ renderer }: LibraryContext, record: ImageRecord): ImageFormat[] {
  if (readinessOf(record) !== "ready") return [];
  return ALL_FORMATS.filter((format) => isServable(renderer, record, format));
}
