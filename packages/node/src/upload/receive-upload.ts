import { ServiceError, type Upload, type UploadLimits } from "@outrigger/core";
import { systemTemporaryDirectory } from "@outrigger/core/stores";
import { bodyTakenError, hasBody, isBodyTaken } from "../body-pump.ts";
import type { Incoming } from "../incoming.ts";
import { parseMediaType } from "../media-type.ts";
import { copyHostUpload, findHostFiles } from "./host-upload.ts";
import { receiveMultipart } from "./receive-multipart.ts";

/** Results of the host's parser. */
export interface HostParsed {
  body(): unknown;
  files(): readonly unknown[];
}

// RFC 2046 §5.1.1.
const MAX_BOUNDARY_LENGTH = 70;
// Allowance for boundaries, part headers and an epilogue, in addition to the file and the fields.
const OVERHEAD_BYTES = 64 * 1024;

/** Implements `Call.upload`. */
export async function receiveUpload(
  req: Incoming,
  limits: UploadLimits,
  signal: AbortSignal,
  host: HostParsed,
): Promise<Upload> {
  checkMediaType(req);
  const directory = limits.spoolDirectory ?? systemTemporaryDirectory();
  if (isBodyTaken(req)) {
    const files = findHostFiles(host.files());
    if (files.length === 0) throw bodyTakenError();
    await limits.slot?.wait(signal);
    return copyHostUpload(files, host.body(), limits, directory, signal);
  }
  if (hasBody(req) === false) throw new ServiceError("bad_request", "The request has no body");
  const maxBodyBytes = limits.maxFileBytes + limits.maxFields * limits.maxFieldBytes + OVERHEAD_BYTES;
  if (Number(req.headers["content-length"]) > maxBodyBytes) {
    throw new ServiceError("too_large", `The file is over the limit of ${limits.maxFileBytes} bytes`);
  }
  await limits.slot?.wait(signal);
  return receiveMultipart(req, limits, { directory, maxBodyBytes }, signal);
}

function checkMediaType(req: Incoming): void {
  const encoding = req.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new ServiceError("unsupported_media", "A body with a Content-Encoding is not accepted");
  }
  const header = req.headers["content-type"];
  const type = parseMediaType(header);
  if (type?.essence !== "multipart/form-data") {
    // Malformed parameters make the essence empty, but the client clearly meant multipart/form-data.
    if (/^\s*multipart\/form-data\s*;/i.test(header ?? "")) {
      throw new ServiceError("bad_request", "The Content-Type is malformed");
    }
    throw new ServiceError("unsupported_media", "The body must be multipart/form-data");
  }
  const boundary = type.parameters.get("boundary");
  if (!boundary) throw new ServiceError("bad_request", "The Content-Type has no boundary");
  if (boundary.length > MAX_BOUNDARY_LENGTH) {
    throw new ServiceError("bad_request", `The boundary is longer than ${MAX_BOUNDARY_LENGTH} characters`);
  }
}
