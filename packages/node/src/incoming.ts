import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { ServiceError } from "@outrigger/core";

/**
 * A request as the functions that receive a body see it: an `IncomingMessage` of `node:http` or `node:http2`, or the
 * body of a web request as a stream.
 */
export interface Incoming extends Readable {
  readonly headers: IncomingHttpHeaders;
  /** Absent for a web request: its header need not show whether it has a body. */
  readonly httpVersionMajor?: number;
  /** Whether the host app has read the body without reading this stream. */
  readonly isTaken?: boolean;
}

export interface MediaType {
  /** `type/subtype`, lower case. */
  essence: string;
  /** Parameters by lower-case name; the first value of a repeated name. */
  parameters: ReadonlyMap<string, string>;
}

const ESSENCE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+$/;
const PARAMETER = /;[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~-]+)|"((?:[^"\\]|\\.)*)"))?[ \t]*/y;

/**
 * Parses a Content-Type (RFC 9110 §8.3.1).
 *
 * @returns `null` without a header; an empty essence if the header is malformed.
 */
export function parseMediaType(header: string | undefined): MediaType | null {
  if (header === undefined) return null;
  const end = header.indexOf(";");
  const essence = (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
  const parameters = new Map<string, string>();
  if (!ESSENCE.test(essence)) return { essence: "", parameters };
  PARAMETER.lastIndex = end;
  while (end !== -1 && PARAMETER.lastIndex < header.length) {
    const match = PARAMETER.exec(header);
    if (match === null) return { essence: "", parameters };
    const name = match[1]?.toLowerCase();
    const value = match[2] ?? match[3]?.replace(/\\(.)/g, "$1");
    if (name !== undefined && value !== undefined && !parameters.has(name)) parameters.set(name, value);
  }
  return { essence, parameters };
}

/** Whether other code has read from the request's body or is about to. */
export function isBodyTaken(req: Incoming): boolean {
  return req.isTaken === true || req.readableDidRead || req.readableEnded || req.readableFlowing === true;
}

/**
 * Whether the request has a body, according to its header (RFC 9112 §6.3, RFC 9113 §8.1). `undefined`: only reading the
 * body shows it.
 */
export function hasBody(req: Incoming): boolean | undefined {
  const length = req.headers["content-length"];
  if (length !== undefined) return Number(length) > 0;
  if (req.httpVersionMajor === undefined)
    return req.headers["transfer-encoding"] === undefined ? undefined : true;
  if (req.httpVersionMajor < 2) return req.headers["transfer-encoding"] !== undefined;
  // In HTTP/2, Node's compatibility request has the stream, which records whether it ended with the header.
  const { stream } = req as Incoming & { stream?: { endAfterHeaders?: boolean } };
  return stream?.endAfterHeaders !== true;
}

/** Throws `unsupported_media` for a body with a Content-Encoding. */
export function requirePlain({ headers }: Incoming): void {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new ServiceError("unsupported_media", "A body with a Content-Encoding is not accepted");
  }
}

/** The error for a body that the host app read before Outrigger without leaving a usable result. */
export function bodyTakenError(): ServiceError {
  return new ServiceError(
    "host_misuse",
    "The host app read the request body before Outrigger could: mount Outrigger before body parsers, " +
      "or leave the parsed body on the request",
  );
}
