import type { BlobStore } from "../contracts/blob-store.ts";
import type { Call } from "../contracts/call.ts";
import type { Pages } from "../contracts/pages.ts";
import type { RateLimiter, RateRule } from "../contracts/rate-limiter.ts";
import type { Renderer } from "../contracts/renderer.ts";
import type { TlsPolicy } from "../http/transport.ts";
import type { Secret } from "./pin.ts";

/** One store for everything, or one per role. */
export type ImageStorage = BlobStore | { records: BlobStore; originals: BlobStore; renditions: BlobStore };

/** Requests per client address (IPv6: per /64) and minute; `false` switches a limit off. */
export interface ImageRateLimits {
  /** @default 60 */
  creates?: number | false;
  /** @default 1200 */
  reads?: number | false;
  /** @default 30 */
  edits?: number | false;
  /** Wrong PINs. @default 10 */
  pinFailures?: number | false;
}

export interface ImagesOptions {
  storage: ImageStorage;
  renderer: Renderer;
  /**
   * At least 32 bytes that PINs are derived from; a list rotates them: the first signs, all verify. Who changes it makes
   * all PINs invalid. @default A store on one machine's disk keeps its own; other stores refuse to start without it.
   */
  secret?: Secret;
  /** Viewer and edit page. Without them no HTML is served. */
  pages?: Pages;
  /**
   * Absolute URL of the mount point, e.g. `https://example.com/img`. Set it wherever you know it.
   * @default What the host framework makes of the request: protocol, host and mount path.
   */
  publicUrl?: string;
  /** Hosts (`name` or `name:port`) that requests may name; others get 400. @default all */
  allowedHosts?: readonly string[];
  /** See {@link TlsPolicy}. @default "required" */
  tls?: TlsPolicy;
  /** Largest file, 1 to 2^31 bytes. @default 26214400 (25 MiB) */
  maxUploadBytes?: number;
  /** An upload without progress for this long ends with 408; milliseconds from 100. @default 15000 */
  uploadIdleMs?: number;
  /**
   * An upload that takes longer to check and clean is answered with 202 and worked on behind; milliseconds from 0 to 60000.
   * `false`: clients wait, unless they send `Prefer: respond-async`. @default 2000
   */
  asyncAfterMs?: number | false;
  /** Leaves place, camera, author and other EXIF, XMP and IPTC in the stored originals. @default false */
  keepMetadata?: boolean;
  /** Life of an image without `expiresAt`, in milliseconds. @default 86400000 (24 hours) */
  defaultLifetimeMs?: number;
  /** Longest life that `expiresAt` may ask for, in milliseconds from now. @default 31536000000 (365 days) */
  maxLifetimeMs?: number;
  /** How long caches may keep a picture without asking, in seconds from 0: a deletion reaches them within it. @default 300 */
  cacheSeconds?: number;
  /** Memory for often read pictures, in bytes from 0. @default 67108864 (64 MiB) */
  memoryBytes?: number;
  /** `false` switches all limits off. */
  rateLimits?: ImageRateLimits | false;
  /** Where the limits are counted; processes that share it share them. @default In this process' memory. */
  rateLimiter?: RateLimiter;
  /** `"host"` leaves failures that nobody expected to the host app's own error handling. @default "reply" (a plain 500) */
  errors?: "reply" | "host";
  /** Told of every unexpected failure and every trouble of a backend. @default console.error */
  onError?: (error: unknown, call?: Call) => void;
  /** The time in Unix milliseconds. @default Date.now */
  now?: () => number;
}

export interface ImageSettings {
  publicUrl: string | null;
  allowedHosts: ReadonlySet<string> | null;
  tls: TlsPolicy;
  maxUploadBytes: number;
  uploadIdleMs: number;
  /** `null`: never. */
  asyncAfterMs: number | null;
  keepMetadata: boolean;
  defaultLifetimeMs: number;
  maxLifetimeMs: number;
  cacheSeconds: number;
  memoryBytes: number;
  rules: Record<keyof ImageRateLimits, RateRule | null>;
  errors: "reply" | "host";
  onError: (error: unknown, call?: Call) => void;
  now: () => number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Fills in the defaults; throws a TypeError that names the option which is out of range. */
export function imageSettings(options: ImagesOptions): ImageSettings {
  const limits = options.rateLimits ?? {};
  const rule = (name: keyof ImageRateLimits, fallback: number): RateRule | null => {
    const limit = limits === false ? false : (limits[name] ?? fallback);
    return limit === false ? null : { limit: whole(`rateLimits.${name}`, limit, 1), windowMs: MINUTE_MS };
  };
  return {
    publicUrl: options.publicUrl === undefined ? null : mountUrl(options.publicUrl),
    allowedHosts:
      options.allowedHosts === undefined
        ? null
        : new Set(options.allowedHosts.map((host) => host.toLowerCase())),
    tls: oneOf("tls", options.tls ?? "required", ["required", "always", "off"]),
    maxUploadBytes: whole("maxUploadBytes", options.maxUploadBytes ?? 25 * 1024 * 1024, 1, 2 ** 31),
    uploadIdleMs: whole("uploadIdleMs", options.uploadIdleMs ?? 15_000, 100),
    asyncAfterMs: optionalWhole("asyncAfterMs", options.asyncAfterMs ?? 2000, 0, 60_000),
    keepMetadata: flag("keepMetadata", options.keepMetadata ?? false),
    defaultLifetimeMs: whole("defaultLifetimeMs", options.defaultLifetimeMs ?? DAY_MS, 1),
    maxLifetimeMs: whole("maxLifetimeMs", options.maxLifetimeMs ?? 365 * DAY_MS, 1),
    cacheSeconds: whole("cacheSeconds", options.cacheSeconds ?? 300, 0),
    memoryBytes: whole("memoryBytes", options.memoryBytes ?? 64 * 1024 * 1024, 0),
    rules: {
      creates: rule("creates", 60),
      reads: rule("reads", 1200),
      edits: rule("edits", 30),
      pinFailures: rule("pinFailures", 10),
    },
    errors: oneOf("errors", options.errors ?? "reply", ["reply", "host"]),
    onError: options.onError ?? ((error) => console.error(error)),
    now: options.now ?? Date.now,
  };
}

function whole(name: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new TypeError(`${name} must be a whole number from ${min} to ${max}`);
}

/** `false` becomes `null`. */
function optionalWhole(name: string, value: number | false, min: number, max: number): number | null {
  return value === false ? null : whole(name, value, min, max);
}

function flag(name: string, value: boolean): boolean {
  if (typeof value === "boolean") return value;
  throw new TypeError(`${name} must be true or false`);
}

function oneOf<T extends string>(name: string, value: T, allowed: readonly T[]): T {
  if (allowed.includes(value)) return value;
  throw new TypeError(`${name} must be one of ${allowed.join(", ")}`);
}

function mountUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw new TypeError("publicUrl must be an absolute http(s) URL without query or fragment");
  }
  return url.href.replace(/\/$/, "");
}
