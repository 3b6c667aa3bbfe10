import type { Call } from "../contracts/call.ts";
import type { RateRule } from "../contracts/rate-limiter.ts";
import { failureListener } from "../http/failure-listener.ts";
import type { TlsPolicy } from "../http/transport.ts";
import type { GoneReason } from "./image-record.ts";
import type { ImageSummary } from "./image-summary.ts";
import type { ImageRateLimits, ImagesOptions, Logger } from "./images-options.ts";
import type { OwnerLimits } from "./owners/owner-usage.ts";
import type { Authorize } from "./permissions.ts";

/** The options of an image service with their defaults filled in. */
export interface ImageSettings {
  publicUrl: string | null;
  allowedHosts: ReadonlySet<string> | null;
  tls: TlsPolicy;
  maxUploadBytes: number;
  uploadIdleMs: number;
  /** `null`: never. */
  asyncAfterMs: number | null;
  processUploads: boolean;
  keepMetadata: boolean;
  requireStore: boolean;
  defaultLifetimeMs: number;
  maxLifetimeMs: number;
  minUploadBytesPerSecond: number;
  tombstoneMs: number;
  /** `null`: never by itself. */
  sweepEveryMs: number | null;
  ownerLimits: OwnerLimits;
  cacheSeconds: number;
  memoryBytes: number;
  rules: Record<keyof ImageRateLimits, RateRule | null>;
  errors: "reply" | "host";
  authorize: Authorize | null;
  onError: (error: unknown, call?: Call) => void;
  /** Neither throws nor is waited for, as `onRemoved`. */
  onStored: (image: ImageSummary) => void;
  onRemoved: (image: ImageSummary, why: GoneReason) => void;
  log: Logger;
  now: () => number;
}

const SILENT: Logger = { info() {}, warn() {}, error() {} };
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A thousand years: dates stay dates, and lists of them sort. */
const MAX_LIFETIME_MS = 1000 * 365 * DAY_MS;

/** Fills in the defaults; throws a TypeError that names the option which is out of range. */
export function imageSettings(options: Omit<ImagesOptions, "storage" | "renderer">): ImageSettings {
  const { logger } = options;
  const onError = failureListener(options);
  const limits = options.rateLimits ?? {};
  const log = logger ?? SILENT;
  const onStored = hook(options.onStored, onError);
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
    processUploads: flag("processUploads", options.processUploads ?? true),
    keepMetadata: flag("keepMetadata", options.keepMetadata ?? false),
    requireStore: flag("requireStore", options.requireStore ?? false),
    defaultLifetimeMs: whole("defaultLifetimeMs", options.defaultLifetimeMs ?? DAY_MS, 1, MAX_LIFETIME_MS),
    maxLifetimeMs: whole("maxLifetimeMs", options.maxLifetimeMs ?? 365 * DAY_MS, 1, MAX_LIFETIME_MS),
    minUploadBytesPerSecond: whole("minUploadBytesPerSecond", options.minUploadBytesPerSecond ?? 1024, 0),
    tombstoneMs: whole("tombstoneDays", options.tombstoneDays ?? 30, 0, 3650) * DAY_MS,
    sweepEveryMs: optionalWhole("sweepEveryMs", options.sweepEveryMs ?? 60_000, 1000, DAY_MS),
    ownerLimits: checkOwnerLimits("ownerLimits", options.ownerLimits ?? {}),
    authorize: options.authorize ?? null,
    cacheSeconds: whole("cacheSeconds", options.cacheSeconds ?? 300, 0),
    memoryBytes: whole("memoryBytes", options.memoryBytes ?? 64 * 1024 * 1024, 0),
    rules: {
      creates: rule("creates", 60),
      reads: rule("reads", 1200),
      edits: rule("edits", 30),
      pinFailures: rule("pinFailures", 10),
    },
    errors: oneOf("errors", options.errors ?? "reply", ["reply", "host"]),
    onError,
    onStored(image) {
      log.info({ id: image.id, type: image.type, bytes: image.size }, "image stored");
      onStored(image);
    },
    onRemoved: hook(options.onRemoved, onError),
    log,
    now: options.now ?? Date.now,
  };
}

/** Limits as the host gives them; throws a TypeError for what is none. */
export function checkOwnerLimits(name: string, { images, bytes }: OwnerLimits): OwnerLimits {
  return {
    ...(images === undefined ? {} : { images: whole(`${name}.images`, images, 0) }),
    ...(bytes === undefined ? {} : { bytes: whole(`${name}.bytes`, bytes, 0) }),
  };
}

/** Runs host code that may throw, at once or later, and that nobody waits for. */
function hook<A extends unknown[]>(
  run: ((...args: A) => unknown) | undefined,
  onError: (error: unknown) => void,
): (...args: A) => void {
  if (run === undefined) return () => undefined;
  const call = async (...args: A) => {
    await run(...args);
  };
  return (...args) => void call(...args).catch((error) => onError(error));
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
