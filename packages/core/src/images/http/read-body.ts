import type { Call } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";
import type { ImageSettings } from "../image-settings.ts";
import type { DateSource } from "../record/image-fields.ts";

/** Of a JSON object or a form without a file. */
export const MAX_BODY_BYTES = 16 * 1024;

/** The parameters of a request: of its query, overridden by those of its body. */
export interface Parameters {
  get(name: string): unknown;
  sourceOf(name: string): DateSource;
  /** Whether the request has a body. Its reply must not be cached then. */
  hasBody: boolean;
}

/** Reads query and body. Rejects like {@link Call.fields}, and with `bad_request` for a query that is not UTF-8. */
export async function readParameters(call: Call, settings: ImageSettings): Promise<Parameters> {
  requireUtf8Query(call.search);
  const query = new URLSearchParams(call.search);
  const body = hasBody(call)
    ? await call.fields({
        maxBytes: MAX_BODY_BYTES,
        idleMs: settings.uploadIdleMs,
      })
    : null;
  const isInBody = (name: string) => body !== null && Object.hasOwn(body, name) && body[name] !== undefined;
  return {
    get: (name) => (isInBody(name) ? body?.[name] : (query.get(name) ?? undefined)),
    sourceOf: (name) => (isInBody(name) ? (isJson(call) ? "json" : "form") : "query"),
    hasBody: body !== null,
  };
}

/** Whether the headers announce a body (RFC 9112 §6.3). */
export function hasBody(call: Call): boolean {
  const length = call.headers["content-length"];
  return call.headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

export function isJson(call: Call): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(call.headers["content-type"] ?? "");
}

/** The PIN of a request: header, body or query. */
export function pinOf(call: Call, parameters: Parameters): unknown {
  return call.headers["x-service-image-pin"] ?? parameters.get("pin");
}

/** Rejects a query with invalid UTF-8, such as `%ff`. */
export function requireUtf8Query(search: string): void {
  if (!search.includes("%")) return;
  try {
    decodeURIComponent(search.replaceAll("+", " "));
  } catch (cause) {
    throw new ServiceError("bad_request", "The query is not valid percent-encoded UTF-8", { cause });
  }
}
