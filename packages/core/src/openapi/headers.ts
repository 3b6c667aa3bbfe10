import type { ApiHeader, ApiPart } from "./document.ts";

const text = { type: "string" } as const;
const uri = { type: "string", format: "uri" } as const;
const httpDate = {
  type: "string",
  pattern: "^[A-Z][a-z]{2}, \\d{2} [A-Z][a-z]{2} \\d{4} \\d{2}:\\d{2}:\\d{2} GMT$",
} as const;

/** Headers of responses. A response that lists one always has it. */
export const HEADERS = {
  "Accept-Ranges": { description: "Byte ranges can be requested with `Range`.", schema: { const: "bytes" } },
  Allow: { description: "The methods that the URL supports.", schema: text },
  "Cache-Control": { description: "Whether and how long the response may be cached.", schema: text },
  "Content-Disposition": {
    description: "The file name for saving (RFC 6266).",
    schema: { type: "string", pattern: "^(?:inline|attachment); filename=" },
  },
  "Content-Range": {
    description: "The byte range in this response, and the total size (RFC 9110 §14.4).",
    schema: { type: "string", pattern: "^bytes (?:\\d+-\\d+|\\*)/\\d+$" },
  },
  "Content-Security-Policy": {
    description: "The resources that the document may load and execute.",
    schema: text,
  },
  ETag: {
    description: "Changes with the content. For `If-None-Match` and `If-Match`.",
    schema: { type: "string", pattern: '^"[^"]+"$' },
  },
  "Last-Modified": { description: "For `If-Modified-Since`.", schema: httpDate },
  Link: {
    description: "Related URLs (RFC 8288).",
    schema: { type: "string", pattern: "^<[^>]+>; rel=" },
  },
  Location: { description: "Absolute URL.", schema: uri },
  RateLimit: {
    description:
      "Requests left within the limit, and the seconds until all are back or, after a refusal, until the next.",
    schema: { type: "string", pattern: '^"\\w+";r=\\d+;t=\\d+$' },
  },
  "RateLimit-Policy": {
    description: "The limit that applies, and the seconds in which it renews.",
    schema: { type: "string", pattern: '^"\\w+";q=\\d+;w=\\d+$' },
  },
  "Retry-After": {
    description: "Seconds to wait before a retry.",
    schema: { type: "string", pattern: "^[1-9]\\d*$" },
  },
  Sunset: { description: "When the image expires (RFC 8594).", schema: httpDate },
  Vary: { description: "The request headers on which the response depends.", schema: text },
  "WWW-Authenticate": { description: "The ways to send a key.", schema: text },
  "X-Service-Image-Edit-Url": {
    description: "URL of the page to edit the image. Contains the PIN.",
    schema: uri,
  },
  "X-Service-Image-Id": { description: "The image's ID.", schema: text },
  "X-Service-Image-Pin": { description: "The PIN.", schema: text },
  "X-Service-Image-Url": { description: "The same as `Location`.", schema: uri },
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

/** A header that a response always has, where the document is an extension that no tool resolves. */
export function inlineHeader(name: HeaderName): Record<string, ApiHeader> {
  return { [name]: { ...HEADERS[name], required: true } };
}

/** The headers that `paths` refer to, for a document's components. */
export function headerComponents(paths: ApiPart["paths"]): Record<string, ApiHeader> {
  const names = new Set(JSON.stringify(paths).match(/(?<="#\/components\/headers\/)[\w-]+/g));
  return Object.assign({}, ...[...names].sort().map((name) => inlineHeader(name as HeaderName)));
}
