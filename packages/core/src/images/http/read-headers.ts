import { expiryOf } from "../record/image-life.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import type { ImageContext } from "./image-context.ts";
import type { Audience } from "./permissions.ts";
import type { PreparedRead } from "./prepared-read.ts";

/** Cacheability of a reply with bytes. */
export type Caching = Audience | "revalidate" | "revalidate privately" | "never";

/** Headers of a 200 with `size` bytes. */
export function wholeHeaders(
  context: ImageContext,
  current: CurrentRecord,
  read: PreparedRead,
  size: number,
  etag: string,
  caching: Caching,
): Readonly<Record<string, string>> {
  return {
    ...withCaching(context, current, read, caching),
    ETag: etag,
    "Content-Length": String(size),
  };
}

/** Headers of a reply without its entity tag and length. */
export function withCaching(
  context: ImageContext,
  { record }: CurrentRecord,
  read: PreparedRead,
  caching: Caching,
): Record<string, string> {
  if (caching === "never") return { ...read.headers, "Cache-Control": "no-store" };
  if (caching === "revalidate") return { ...read.headers, "Cache-Control": "no-cache", Vary: "Accept" };
  if (caching === "revalidate privately") {
    return { ...read.headers, "Cache-Control": "private, no-cache", Vary: "Accept" };
  }
  const maxAge = Math.min(context.settings.cacheSeconds, secondsLeft(context, record, read));
  return {
    ...read.headers,
    "Cache-Control": `${caching}, max-age=${maxAge}, must-revalidate, no-transform`,
  };
}

/** Whole seconds until the image or its signed address expires; `Infinity`: never. A cache must not keep the reply longer. */
export function secondsLeft(
  { settings }: ImageContext,
  record: ImageRecord,
  { untilMs }: PreparedRead,
): number {
  const expiresAt = expiryOf(record);
  const endsAt = untilMs === null ? expiresAt : Math.min(expiresAt, untilMs);
  return Math.max(0, Math.floor((endsAt - settings.now()) / 1000));
}
