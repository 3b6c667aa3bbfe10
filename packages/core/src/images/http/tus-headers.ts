import { bytesText } from "../../amounts.ts";
import type { Call } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";
import { HttpProblem } from "../../http/problem.ts";
import type { ImageSettings } from "../image-settings.ts";
import { type ResumableUpload, UNFINISHED_MS } from "../uploads/resumable-uploads.ts";

// The headers of tus 1.0 (https://tus.io/protocols/resumable-upload).

const VERSION = "1.0.0";
const MAX_METADATA_LENGTH = 8 * 1024;

/** The headers of every reply about resumable uploads, OPTIONS included. */
export function tusHeaders({ maxUploadBytes }: ImageSettings): Record<string, string> {
  return {
    "Tus-Resumable": VERSION,
    "Tus-Version": VERSION,
    "Tus-Extension": "creation,creation-with-upload,expiration,termination",
    "Tus-Max-Size": String(maxUploadBytes),
  };
}

/** Throws 412 for a request of another version. */
export function requireTus({ headers }: Call): void {
  if (headers["tus-resumable"] === VERSION) return;
  throw new HttpProblem({ status: 412, detail: `The header Tus-Resumable must be ${VERSION}` });
}

/** `Upload-Length`. Throws for a length that is missing or not accepted. */
export function requireSize({ headers }: Call, maxBytes: number): number {
  const length = headers["upload-length"]?.toString() ?? "";
  if (headers["upload-concat"] !== undefined || !/^\d{1,15}$/.test(length)) {
    const detail =
      "Upload-Length must be the bytes of the whole file: it is neither deferred nor sent in parallel parts";
    throw new ServiceError("bad_request", detail);
  }
  const size = Number(length);
  if (size === 0) throw new ServiceError("unsupported_media", "The file is empty");
  if (size > maxBytes) throw new ServiceError("too_large", `The file has more than ${bytesText(maxBytes)}`);
  return size;
}

/** `Upload-Metadata` as the fields and the file of a form. The type is empty if the bytes decide. Throws `bad_request`. */
export function parseMetadata(metadata: string) {
  const fields: Record<string, string> = Object.create(null);
  const pairs = metadata === "" ? [] : metadata.split(",");
  const isRight = pairs.every((pair) => {
    const [, name = "", value = ""] = /^ *([!-+\--~]+)(?: ([A-Za-z0-9+/]*={0,2}))? *$/.exec(pair) ?? [];
    fields[name] = Buffer.from(value, "base64").toString("utf8");
    return name !== "";
  });
  if (!isRight || metadata.length > MAX_METADATA_LENGTH) {
    const detail = `Upload-Metadata must have names with values in base64, at most ${MAX_METADATA_LENGTH} characters in all`;
    throw new ServiceError("bad_request", detail);
  }
  const { filename = fields.name ?? "", filetype = fields.type ?? "" } = fields;
  const [type = ""] = filetype.split(";");
  return { fields, fileName: filename, declaredType: type.trim().toLowerCase() };
}

/** How much of an upload is stored, and until when the rest may follow. */
export function offsetHeaders({ createdAt, size }: ResumableUpload, offset: number): Record<string, string> {
  const expires = new Date(createdAt + UNFINISHED_MS).toUTCString();
  return {
    "Upload-Offset": String(offset),
    "Cache-Control": "no-store",
    ...(offset < size ? { "Upload-Expires": expires } : {}),
  };
}
