import type { JsonSchema } from "../schema/json-schema.ts";
import type { ApiHeader, ApiPart } from "./document.ts";

const text = { type: "string" } as const;
const uri = { type: "string", format: "uri" } as const;
const like = (pattern: string) => ({ type: "string", pattern }) as const;
const httpDate = like("^[A-Z][a-z]{2}, \\d{2} [A-Z][a-z]{2} \\d{4} \\d{2}:\\d{2}:\\d{2} GMT$");
const header = (description: string, schema: JsonSchema = text): ApiHeader => ({ description, schema });

/** Headers of responses. A response that lists one always has it, but for `Sunset`. */
export const HEADERS = {
  "Accept-Ranges": header("Byte ranges can be requested with `Range`.", { const: "bytes" }),
  Allow: header("The methods that the URL supports."),
  "Cache-Control": header("Whether and how long the response may be cached."),
  "Content-Disposition": header(
    "The file name for saving (RFC 6266).",
    like("^(?:inline|attachment); filename="),
  ),
  "Content-Range": header(
    "The byte range in this response, and the total size (RFC 9110 §14.4).",
    like("^bytes (?:\\d+-\\d+|\\*)/\\d+$"),
  ),
  "Content-Security-Policy": header("The resources that the document may load and execute."),
  ETag: header("Changes with the content. For `If-None-Match` and `If-Match`.", like('^"[^"]+"$')),
  "Last-Modified": header("For `If-Modified-Since`.", httpDate),
  Link: header("Related URLs (RFC 8288).", like("^<[^>]+>; rel=")),
  Location: header("Absolute URL.", uri),
  RateLimit: header(
    "Requests left within the limit, and the seconds until all are back or, after a refusal, until the next.",
    like('^"\\w+";r=\\d+;t=\\d+$'),
  ),
  "RateLimit-Policy": header(
    "The limit that applies, and the seconds in which it renews.",
    like('^"\\w+";q=\\d+;w=\\d+$'),
  ),
  "Retry-After": header("Seconds to wait before a retry.", like("^[1-9]\\d*$")),
  Sunset: header("When the image expires (RFC 8594). Absent if it never does.", httpDate),
  Vary: header("The request headers on which the response depends."),
  "WWW-Authenticate": header("The ways to send a key."),
  "X-Service-Image-Edit-Url": header("URL of the page to edit the image. Contains the PIN.", uri),
  "X-Service-Image-Id": header("The image's ID."),
  "X-Service-Image-Pin": header("The PIN."),
  "X-Service-Image-Url": header("The same as `Location`.", uri),
} as const satisfies Record<string, ApiHeader>;

export type HeaderName = keyof typeof HEADERS;

/** Headers that a response always has. */
export function headersOf(...names: readonly HeaderName[]): Record<string, ApiHeader> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** A header that a response may have. */
export function maybeHeader(name: HeaderName, description: string): Record<string, ApiHeader> {
  return { [name]: { ...HEADERS[name], description } };
}

/** The headers that `paths` refer to, for a document's components. */
export function headerComponents(paths: ApiPart["paths"]): Record<string, ApiHeader> {
  const names = new Set(JSON.stringify(paths).match(/(?<="#\/components\/headers\/)[\w-]+/g));
  const used = [...names].sort() as HeaderName[]; // Made by `headersOf`.
  return Object.fromEntries(used.map((name) => [name, { ...HEADERS[name], required: name !== "Sunset" }]));
}
