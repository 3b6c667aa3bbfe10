import type { Call, Reply } from "../../../contracts/call.ts";
import type { ImageView } from "../../../contracts/pages.ts";
import type { ImageFormat } from "../../../contracts/renderer.ts";
import { ServiceError } from "../../../errors.ts";
import { textReply } from "../../../http/text-reply.ts";
import { parsedUrl } from "../../../parsed-url.ts";
import { expiryOf } from "../../record/image-state.ts";
import { baseUrl, findForRead, type ImageContext, requireUtf8Query } from "../image-context.ts";
import { cachingOf, sunsetHeader } from "../prepared-read.ts";
import { imageView, pageShown } from "./image-view.ts";

/** Longest side of an embedded picture, pixels. */
const MAX_SIDE = 2000;
/** Longer sides of pictures are multiples of this, shorter ones powers of two: anyone may ask, so the service renders few sizes. */
const STEP = 100;

/** `GET HEAD {base}/api/oembed.json`: how other sites embed the image at an address (oEmbed 1.0). */
export async function embedding(context: ImageContext, call: Call): Promise<Reply> {
  requireUtf8Query(call.search);
  const query = new URLSearchParams(call.search);
  if ((query.get("format") || "json") !== "json") {
    throw new ServiceError("not_implemented", "The only format is json");
  }
  const [base, address] = [baseUrl(context, call), query.get("url") ?? ""];
  const url = parsedUrl(address);
  if (url === null) throw new ServiceError("bad_request", "url must be an absolute URL");
  const { origin, pathname, search } = url;
  const path = origin + pathname;
  const [, id = ""] =
    /^\/([^/]+)(?:\/view)?$/.exec(path.startsWith(base) ? path.slice(base.length) : "") ?? [];
  const { current, audience } = await findForRead(context, call, id);
  const { record } = current;
  const view = imageView(context, call, record, pageShown(base, search.slice(1), record));
  const { cacheSeconds, now } = context.settings;
  const body = {
    version: "1.0",
    title: view.name,
    provider_name: context.pages?.productName ?? new URL(base).host,
    provider_url: `${base}/`,
    cache_age: Math.max(0, Math.min(cacheSeconds, Math.floor((expiryOf(record) - now()) / 1000))),
    ...photo(view, sideOf(query, "maxwidth"), sideOf(query, "maxheight")),
  };
  return textReply(call, 200, "application/json", JSON.stringify(body), {
    ...cachingOf(audience),
    ...sunsetHeader(record),
  });
}

function sideOf(query: URLSearchParams, name: string): number {
  const given = query.get(name) || String(MAX_SIDE);
  if (!/^0*[1-9]\d{0,8}$/.test(given)) {
    throw new ServiceError("bad_request", `${name} must be a whole number from 1`);
  }
  return Math.min(MAX_SIDE, Number(given));
}

/** The picture within a box; a link where the service cannot show the image, or does not know its size. */
function photo({ type, page, width, height, links, sign }: ImageView, maxWidth: number, maxHeight: number) {
  const formats: readonly ImageFormat[] =
    type === "image/gif" ? ["gif"] : type === "image/jpeg" ? ["jpg"] : ["png", "jpg"];
  const link = formats.map((format) => links[format]).find((each) => each !== undefined);
  if (link === undefined || width === null || height === null) return { type: "link" };
  const longest = Math.max(width, height);
  const most = Math.floor(longest * Math.min(maxWidth / width, maxHeight / height));
  const url = new URL(link);
  if (page > 1) url.searchParams.set("page", String(page));
  const side = most >= longest ? longest : stepBelow(Math.max(1, most));
  if (side < longest) url.searchParams.set("resize", `${side}x${side}`);
  const sized = (length: number) => Math.max(1, Math.round((length * side) / longest));
  return {
    type: "photo",
    url: url.search === "" ? link : (sign?.(url.href) ?? url.href),
    width: sized(width),
    height: sized(height),
  };
}

function stepBelow(side: number): number {
  return side >= STEP ? side - (side % STEP) : 2 ** Math.floor(Math.log2(side));
}
