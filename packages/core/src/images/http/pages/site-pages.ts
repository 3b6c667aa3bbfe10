import contentDisposition from "content-disposition";
import Negotiator from "negotiator";
import type { Call, Reply } from "../../../contracts/call.ts";
import type { Asset } from "../../../contracts/pages.ts";
import { HttpProblem } from "../../../http/problem.ts";
import { textReply } from "../../../http/text-reply.ts";
import { parsedUrl } from "../../../parsed-url.ts";
import type { ImageSettings } from "../../image-settings.ts";
import { baseUrl, type ImageContext } from "../image-context.ts";
import { FILE_FIELD } from "../receive-image.ts";
import { requirePages } from "./problem-page.ts";

/** `GET HEAD {base}/assets/<name>`: a file that pages load, cacheable for ever. */
export function assetReply(context: ImageContext, call: Call, name: string): Reply {
  const asset = requirePages(context).asset(name);
  if (asset === undefined) throw nothingHere();
  const { body, encoding } = chooseEncoding(call, asset);
  const headers = {
    "Content-Type": asset.type,
    "Content-Length": String(body.byteLength),
    ...(encoding === null ? {} : { "Content-Encoding": encoding }),
    Vary: "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "public, max-age=31536000, immutable",
    // If a page is opened under another host name than that of `publicUrl`, its files are cross-origin.
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
  };
  return call.method === "HEAD" ? { status: 200, headers } : { status: 200, headers, body };
}

/** The reply for a path without a resource, to any method except OPTIONS. */
export function nothingHere(): HttpProblem {
  return new HttpProblem({ status: 404, detail: "There is nothing at this address." });
}

function chooseEncoding(
  call: Call,
  { body, brotli, gzip }: Asset,
): { body: Uint8Array; encoding: string | null } {
  const bodies = new Map<string, Uint8Array>();
  if (brotli !== undefined) bodies.set("br", brotli);
  if (gzip !== undefined) bodies.set("gzip", gzip);
  const accepted = new Negotiator({ headers: call.headers }).encodings([...bodies.keys(), "identity"]);
  const encoding = [...bodies.keys()].find((each) => accepted.includes(each));
  const compressed = encoding === undefined ? undefined : bodies.get(encoding);
  return compressed === undefined || encoding === undefined
    ? { body, encoding: null }
    : { body: compressed, encoding };
}

/**
 * `GET HEAD {base}/sharex.sxcu`: a custom uploader that ShareX imports on a double click (ShareX, "Custom uploader",
 * file version 14).
 */
export function sharexReply(context: ImageContext, call: Call): Reply {
  const base = baseUrl(context, call);
  const host = parsedUrl(base)?.host ?? base;
  const uploader = {
    Version: "14.0.0",
    Name: `Outrigger (${host})`,
    DestinationType: "ImageUploader, FileUploader",
    RequestMethod: "POST",
    RequestURL: `${base}/api/images.json`,
    Body: "MultipartFormData",
    FileFormName: FILE_FIELD,
    URL: "{json:url}/view",
    ThumbnailURL: `{json:links.png}${thumbnailQuery(context.settings)}`,
    DeletionURL: "{json:editUrl}",
    ErrorMessage: "{json:detail}",
  };
  const body = `${JSON.stringify(uploader, null, 2)}\n`;
  return textReply(call, 200, "application/json", body, {
    "Content-Disposition": contentDisposition(`outrigger-${host.replace(/[^a-z0-9.-]+/gi, "-")}.sxcu`),
    "Cache-Control": "no-cache",
  });
}

/**
 * A template cannot contain a signed size. So the thumbnail is the first preset with a size, else the whole picture.
 */
function thumbnailQuery({ sizes, presets }: ImageSettings): string {
  if (!sizes.needsSignature) return "?resize=300x300";
  const [name] = [...presets].find(([, { resize }]) => resize !== undefined) ?? [];
  return name === undefined ? "" : `?preset=${name}`;
}
