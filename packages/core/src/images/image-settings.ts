import { checkOptions } from "../check-options.ts";
import type { RateRule } from "../contracts/rate-limiter.ts";
import { callSafely, failureListener, safeLogger } from "../http/failure-listener.ts";
import type { ImageRateLimits } from "../http/image-rate-limits.ts";
import { IMPORT_RULES, type ImportUrlsOptions, type RemotePolicy } from "../http/remote/remote-policy.ts";
import type * as rules from "../option-rules.ts";
import { IMAGES_RULES } from "./images-options.ts";
import { type CheckedLimits, OWNER_LIMITS, type OwnerLimits } from "./owners/revise-usage.ts";
import type { ImageRecord } from "./record/image-record.ts";
import { presetsOf, sizePolicy } from "./renditions/presets.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The settings alone: commands that only administer images have neither storage nor renderer among their options. */
const { storage: _storage, renderer: _renderer, ...SETTINGS_RULES } = IMAGES_RULES;

type Given = rules.Checked<typeof SETTINGS_RULES>;

/** The settings when no option is given. */
export function defaultSettings(factory: string): Given {
  return checkOptions(factory, {}, SETTINGS_RULES);
}

/** The options of an image service, checked and with their defaults, in the form that the service uses. */
export type ImageSettings = ReturnType<typeof imageSettings>;

/** The settings of checked options. An option that may be `false` or absent is `null` here, for switched off. */
export function imageSettings(options: Given) {
  const onError = failureListener(options);
  const log = safeLogger(options.logger, onError);
  const { secret: _, publicUrl, allowedHosts, rateLimits, ...others } = options;
  return {
    ...others,
    publicUrl: publicUrl === undefined ? null : new URL(publicUrl).href.replace(/\/$/, ""),
    allowedHosts: allowedHosts === undefined ? null : new Set(allowedHosts.map((host) => host.toLowerCase())),
    asyncAfterMs: orNull(options.asyncAfterMs),
    /** Whether clients may import by URL. The host may always. */
    importsUrls: options.importUrls !== false,
    /** Which servers are contacted for an import. */
    importPolicy: importPolicyOf(options.importUrls),
    /** The lifetime of an image that is uploaded over HTTP without an expiry. `null`: no end, which needs a service without a limit. */
    httpLifetimeMs: options.defaultLifetimeMs ?? options.maxLifetimeMs,
    tombstoneMs: options.tombstoneDays * DAY_MS,
    /** `null`: sweeps run only on demand. */
    sweepEveryMs: orNull(options.sweepEveryMs),
    ownerLimits: definedOnly(options.ownerLimits),
    authorize: options.authorize ?? null,
    inspect: options.inspect ?? null,
    sizes: sizePolicy(options.sizes),
    presets: presetsOf(options.presets),
    cacheTag: options.cacheTag ?? null,
    sendfile: options.sendfile ?? null,
    rules: {
      creates: rateRule(rateLimits, "creates"),
      reads: rateRule(rateLimits, "reads"),
      edits: rateRule(rateLimits, "edits"),
      reports: rateRule(rateLimits, "reports"),
      pinFailures: rateRule(rateLimits, "pinFailures"),
    },
    /** Hours in which a report is decided. `null`: clients cannot report images. */
    reportHours: options.reports === false ? null : options.reports === true ? 48 : options.reports.hours,
    renderBudget: orNull(options.renderBudget),
    onError,
    /** Logs an image that is ready, held, or not processed yet. @param request Absent: no request waits for it. */
    logStored({ id, agent, type, size, processing, held }: ImageRecord, request: LoggedRequest = {}): void {
      const state = held ? "held" : processing === null ? "stored" : "received";
      log.info({ id, ...request, ...(agent && { agent }), type, bytes: size }, `image ${state}`);
    },
    /** Never throws, and is not awaited. */
    onPurge: hook(options.onPurge, onError),
    log,
  };
}

/** What the log has of the request that created an image. */
export interface LoggedRequest {
  requestId?: string | undefined;
  client?: string | undefined;
  /** ID of the operator's act. */
  act?: string;
  /** The operator. */
  by?: string | undefined;
}

function orNull<T>(given: T | false): T | null {
  return given === false ? null : given;
}

/** `null`: no limit. */
function rateRule(limits: Given["rateLimits"], name: keyof ImageRateLimits): RateRule | null {
  const limit = limits === false ? false : limits[name];
  if (limit === false) return null;
  if (typeof limit === "number") return { limit, windowMs: MINUTE_MS };
  return { limit: limit.perMinute, windowMs: MINUTE_MS, burst: limit.burst };
}

function importPolicyOf(given: boolean | ImportUrlsOptions): RemotePolicy {
  // Checks again what is checked already, for the defaults.
  const { internalHosts } = checkOptions("importUrls", typeof given === "boolean" ? {} : given, IMPORT_RULES);
  return { ports: [80, 443], internalHosts };
}

/**
 * Checks the limits of one owner. @param called Name of the limits in messages. @throws TypeError for limits out of
 * range.
 */
export function checkOwnerLimits(called: string, limits: OwnerLimits): CheckedLimits {
  return definedOnly(checkOptions(called, limits, OWNER_LIMITS));
}

function definedOnly({ images, bytes }: rules.Checked<typeof OWNER_LIMITS>): CheckedLimits {
  return { ...(images === undefined ? {} : { images }), ...(bytes === undefined ? {} : { bytes }) };
}

/** Wraps a hook of the host: its failures go to `onError`. */
function hook<A extends unknown[]>(
  run: ((...args: A) => unknown) | undefined,
  onError: (error: unknown) => void,
): (...args: A) => void {
  if (run === undefined) return () => undefined;
  return (...args) => callSafely(() => run(...args), onError);
}
