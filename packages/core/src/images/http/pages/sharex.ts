import contentDisposition from "content-disposition";
import type { Call, Reply } from "../../../contracts/call.ts";
import type { ImageSettings } from "../../image-settings.ts";
import { baseUrl, type ImageContext } from "../image-context.ts";
import { FILE_FIELD } from "../receive-image.ts";

/**
 * `GET HEAD {base}/sharex.sxcu`: a custom uploader that ShareX imports on a double click (ShareX, "Custom uploader",
 * file version 14).
 */
export function sharexReply(context: ImageContext, call: Call): Reply {
  const base = baseUrl(context, call);
  const host = URL.canParse(base) ? new URL(base).host : base;
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
  const headers = {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    "Content-Disposition": contentDisposition(`outrigger-${host.replace(/[^a-z0-9.-]+/gi, "-")}.sxcu`),
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
  };
  return call.method === "HEAD" ? { status: 200, headers } : { status: 200, headers, body };
}

/**
 * A template cannot contain a signed size. So the thumbnail is the first preset with a size, else the whole picture.
 */
function thumbnailQuery({ sizes, presets }: ImageSettings): string {
  if (!sizes.needsSignature) return "?resize=300x300";
  const [name] = [...presets].find(([, { resize }]) => resize !== undefined) ?? [];
  return name === undefined ? "" : `?preset=${name}`;
}
