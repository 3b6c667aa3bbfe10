import { checkOptions } from "../check-options.ts";
import * as shapes from "../contract-rules.ts";
import type { RateRule } from "../contracts/rate-limiter.ts";
import { CORS_RULE } from "../http/cors.ts";
import { callSafely, failureListener, safeLogger } from "../http/failure-listener.ts";
import { isHostEntry, type RemotePolicy } from "../http/remote/remote-policy.ts";
import * as rules from "../option-rules.ts";
import { isWhole } from "../option-values.ts";
import { MIN_SECRET_BYTES } from "../secret-bytes.ts";
import type { ImageRateLimits, ImagesOptions, ImportUrlsOptions } from "./images-options.ts";
import type { OwnerLimits } from "./owners/owner-usage.ts";
import type { ImageSummary } from "./record/image-record.ts";
import { MAX_READ_LEASE_MS } from "./record/read-leases.ts";
import { PRESETS_RULE, presetsOf, SIZES_RULE, sizePolicy } from "./renditions/presets.ts";
import { SENDFILE_RULE } from "./sendfile.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A thousand years. Keeps every date valid, and lists of dates sortable. */
const MAX_LIFETIME_MS = 1000 * 365 * DAY_MS;

const RATE_LIMIT = rules.orFalse(
  rules.either(
    "a whole number from 1, or { perMinute, burst } of such numbers",
    rules.nested({ perMinute: rules.required(rules.whole(1)), burst: rules.required(rules.whole(1)) }),
    rules.whole(1),
  ),
);
const RATE_LIMITS = {
  // The burst is larger than the batches that people choose on the upload page.
  creates: rules.preset({ perMinute: 60, burst: 200 }, RATE_LIMIT),
  reads: rules.preset(1200, RATE_LIMIT),
  edits: rules.preset(30, RATE_LIMIT),
  pinFailures: rules.preset(10, RATE_LIMIT),
} satisfies rules.RuleTable<ImageRateLimits>;

const IMPORT_RULES = {
  ports: rules.preset(
    [80, 443],
    rules.value(
      "a list of at least one port, each a whole number from 1 to 65535",
      (given) => Array.isArray(given) && given.length > 0 && given.every((port) => isWhole(port, 1, 65_535)),
    ),
  ),
  internalHosts: rules.preset(
    [],
    rules.texts("a list of hosts, such as cms.example or cms.example:8080", isHostEntry),
  ),
  timeoutMs: rules.preset(30_000, rules.whole(1000, 300_000)),
} satisfies rules.RuleTable<ImportUrlsOptions>;

const OWNER_LIMITS = {
  images: rules.whole(0),
  bytes: rules.whole(0),
} satisfies rules.RuleTable<OwnerLimits>;

/** RFC 9110 §5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]{1,64}$/;
/** Headers of the service, of the host and of HTTP itself, whose meaning another value would break. */
const OTHER_HEADERS =
  /^(?:accept-ranges|age|cache-control|connection|content-.*|cross-origin-.*|date|etag|expires|keep-alive|last-modified|link|location|retry-after|server|set-cookie|strict-transport-security|sunset|trailer|transfer-encoding|upgrade|vary|via|www-authenticate|x-accel-.*|x-content-type-options|x-frame-options|x-sendfile.*|access-control-.*)$/i;

/** The options of `createImages`. */
export const IMAGES_RULES = {
  storage: rules.required(shapes.imageStorage),
  renderer: rules.required(shapes.renderer),
  secret: rules.secret(MIN_SECRET_BYTES, true),
  requireStore: rules.preset(false, rules.flag()),
  pages: shapes.pages,
  publicUrl: rules.url(),
  allowedHosts: rules.texts("a list of at least one host, such as example.com", (host) => host !== "", 1),
  tls: rules.preset("required", rules.oneOf("required", "always", "off")),
  maxUploadBytes: rules.preset(25 * 1024 * 1024, rules.whole(1, 2 ** 31)),
  uploadIdleMs: rules.preset(15_000, rules.whole(100)),
  minUploadBytesPerSecond: rules.preset(1024, rules.whole(0)),
  asyncAfterMs: rules.preset(2000, rules.orFalse(rules.whole(0, 60_000))),
  importUrls: rules.preset(
    false,
    rules.either(
      `true, false, or an object of options (${Object.keys(IMPORT_RULES).join(", ")})`,
      rules.nested(IMPORT_RULES),
      rules.flag(),
    ),
  ),
  keepMetadata: rules.preset(false, rules.flag()),
  keepPdfActions: rules.preset(false, rules.flag()),
  defaultLifetimeMs: rules.preset(DAY_MS, rules.orNull(rules.whole(1, MAX_LIFETIME_MS))),
  maxLifetimeMs: rules.preset(365 * DAY_MS, rules.orNull(rules.whole(1, MAX_LIFETIME_MS))),
  tombstoneDays: rules.preset(30, rules.whole(0, 3650)),
  readLeaseMs: rules.preset(0, rules.whole(0, MAX_READ_LEASE_MS)),
  sweepEveryMs: rules.preset(60_000, rules.orFalse(rules.whole(1000, DAY_MS))),
  authorize: rules.fn(),
  ownerLimits: rules.preset({}, rules.nested(OWNER_LIMITS)),
  cors: CORS_RULE,
  sizes: SIZES_RULE,
  presets: PRESETS_RULE,
  cacheSeconds: rules.preset(300, rules.whole(0)),
  cacheTag: rules.text(
    "the name of a header that replies do not have otherwise, such as Cache-Tag",
    (name) => HEADER_NAME.test(name) && !OTHER_HEADERS.test(name),
  ),
  sendfile: SENDFILE_RULE,
  memoryBytes: rules.preset(64 * 1024 * 1024, rules.whole(0)),
  renditionsIdleDays: rules.preset(30, rules.orFalse(rules.whole(1, 3650))),
  rateLimits: rules.preset({}, rules.orFalse(rules.nested(RATE_LIMITS))),
  renderBudget: rules.preset(20, rules.orFalse(rules.whole(1, 3600))),
  rateLimiter: shapes.rateLimiter,
  processUploads: rules.preset(true, rules.flag()),
  errors: rules.preset("reply", rules.oneOf("reply", "host")),
  onError: rules.fn(),
  onStored: rules.fn(),
  onRemoved: rules.fn(),
  onPurge: rules.fn(),
  logger: shapes.logger,
  observer: shapes.observer,
  now: rules.preset(() => Date.now(), rules.fn()),
} satisfies rules.RuleTable<ImagesOptions>;

/** The settings alone: commands that only administer images have neither storage nor renderer among their options. */
const { storage: _storage, renderer: _renderer, ...SETTINGS_RULES } = IMAGES_RULES;

type Given = rules.Checked<Omit<ImagesOptions, "storage" | "renderer">, typeof SETTINGS_RULES>;

/** The settings when no option is given. */
export function defaultSettings(factory: string): Given {
  return checkOptions(factory, {}, SETTINGS_RULES) as Given; // No setting is required.
}

/** The options of an image service, checked and with their defaults, in the form that the service uses. */
export type ImageSettings = ReturnType<typeof imageSettings>;

/** The settings of checked options. An option that may be `false` or absent is `null` here, for switched off. */
export function imageSettings(options: Given) {
  const onError = failureListener(options);
  const log = safeLogger(options.logger, onError);
  const onStored = hook(options.onStored, onError);
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
    tombstoneMs: options.tombstoneDays * DAY_MS,
    /** `null`: sweeps run only on demand. */
    sweepEveryMs: orNull(options.sweepEveryMs),
    ownerLimits: definedOnly(options.ownerLimits),
    authorize: options.authorize ?? null,
    sizes: sizePolicy(options.sizes),
    presets: presetsOf(options.presets),
    cacheTag: options.cacheTag ?? null,
    sendfile: options.sendfile ?? null,
    renditionsIdleDays: orNull(options.renditionsIdleDays),
    rules: {
      creates: rateRule(rateLimits, "creates"),
      reads: rateRule(rateLimits, "reads"),
      edits: rateRule(rateLimits, "edits"),
      pinFailures: rateRule(rateLimits, "pinFailures"),
    },
    renderBudget: orNull(options.renderBudget),
    onError,
    /** Never throws, and is not awaited. The same holds for `onRemoved` and `onPurge`. */
    onStored(image: ImageSummary): void {
      log.info({ id: image.id, type: image.type, bytes: image.size }, "image stored");
      onStored(image);
    },
    onRemoved: hook(options.onRemoved, onError),
    onPurge: hook(options.onPurge, onError),
    log,
  };
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
  const { ports, internalHosts, timeoutMs } = checkOptions(
    "importUrls",
    typeof given === "boolean" ? {} : given,
    IMPORT_RULES,
  );
  return { ports, internalHosts, timeoutMs };
}

/**
 * Checks the limits of one owner. @param called Name of the limits in messages. @throws TypeError for limits out of
 * range.
 */
export function checkOwnerLimits(called: string, limits: OwnerLimits): OwnerLimits {
  return definedOnly(checkOptions(called, limits, OWNER_LIMITS));
}

function definedOnly({
  images,
  bytes,
}: {
  images: number | undefined;
  bytes: number | undefined;
}): OwnerLimits {
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
