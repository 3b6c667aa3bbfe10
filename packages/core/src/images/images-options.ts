import * as shapes from "../contract-rules.ts";
import type { Call } from "../contracts/call.ts";
import { TLS_RULE } from "../http/client.ts";
import { CORS_RULE } from "../http/cors.ts";
import { RATE_LIMIT_RULES } from "../http/image-rate-limits.ts";
import { IMPORT_RULES } from "../http/remote/remote-policy.ts";
import { WEBHOOKS_RULES, webhookFaults } from "../http/webhooks.ts";
import * as rules from "../option-rules.ts";
import type { Authorize } from "./authorize.ts";
import { OWNER_LIMITS } from "./owners/revise-usage.ts";
import { CONVERTIBLE, type ConvertibleName } from "./record/formats.ts";
import {
  type GoneReason,
  IMAGE_EVENT_TYPES,
  type ImageSummary,
  type PurgedImage,
  type PurgeReason,
} from "./record/image-record.ts";
import { INSPECT_RULES } from "./record/inspect-rules.ts";
import { PRESETS_RULE, SIZES_RULE } from "./renditions/presets.ts";
import { SENDFILE_RULE } from "./sendfile.ts";
import { RESUMABLE_RULE } from "./store/piece-store.ts";

const DAY_MS = 86_400_000;
/** A thousand years. Keeps every date valid, and lists of dates sortable. */
const MAX_LIFETIME_MS = 1000 * 365 * DAY_MS;

/** RFC 9110 §5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]{1,64}$/;
/** Headers of the service, of the host and of HTTP itself, whose meaning another value would break. */
const OTHER_HEADERS =
  /^(?:accept-ranges|age|cache-control|connection|content-.*|cross-origin-.*|date|etag|expires|keep-alive|last-modified|link|location|retry-after|server|set-cookie|strict-transport-security|sunset|trailer|transfer-encoding|upgrade|vary|via|www-authenticate|x-accel-.*|x-content-type-options|x-frame-options|x-sendfile.*|access-control-.*)$/i;

/** The options of `createImages`. */
export const IMAGES_RULES = {
  /** One store for everything, or `{ records, originals, renditions }`. Closed with the service. */
  storage: rules.required(shapes.imageStorage),
  /** Validates, cleans and renders pictures; see `@outrigger/imaging`. Closed with the service. */
  renderer: rules.required(shapes.renderer),
  /**
   * Secret of at least 32 bytes that PINs are derived from. A text `base64:…` is decoded. In a list, the first signs
   * and all verify. Without the old secret in the list, all earlier PINs are invalid.
   * @default a store on a local disk creates its own; any other store requires it
   */
  secret: rules.secret(),
  /**
   * Refuses an empty storage, such as an unmounted volume, instead of initialising it: all calls answer 503, and
   * {@link Images.ready} rejects. @default false
   */
  requireStore: rules.preset(false, rules.flag()),
  /** HTML pages for browsers; see `@outrigger/web`. @default none: no HTML is served */
  pages: shapes.pages,
  /**
   * Absolute http(s) URL of the mount point, e.g. `https://example.com/img`, without credentials, query or fragment.
   * Set it whenever the URL is known.
   * @default derived from each request: protocol, host and mount path
   */
  publicUrl: rules.url(),
  /** Hosts (`name` or `name:port`) that requests may name. Other hosts get 400. @default all */
  allowedHosts: rules.texts("a list of at least one host, such as example.com", (host) => host !== "", 1),
  /**
   * Whether connections must use TLS. `required` exempts a loopback peer that is not a proxy, for development.
   * `always` exempts no peer. `off` leaves TLS to another layer. @default "required"
   */
  tls: TLS_RULE,
  /**
   * Names of form parts besides `imagedata` that may be the picture, for editors that cannot change theirs. `"any"`: the
   * one part with a file, whatever its name.
   * @default []
   */
  fileFields: rules.preset([], rules.orAny(rules.texts("a list of part names", (name) => name !== ""))),
  /**
   * Types besides the six that are accepted and converted: `"webp"`, `"avif"`, `"tiff"`, and `"heic"`, which needs the package
   * heic-decode. A photo becomes a JPEG, a picture without loss or with transparency a PNG, an animation a GIF.
   * @default []
   */
  convertUploads: rules.preset(
    [],
    rules.value<readonly ConvertibleName[]>(
      `a list of ${Object.keys(CONVERTIBLE).join(", ")}`,
      (given) => Array.isArray(given) && given.every((name) => Object.hasOwn(CONVERTIBLE, String(name))),
    ),
  ),
  /** Largest file, 1 to 2^31 bytes. @default 26214400 (25 MiB) */
  maxUploadBytes: rules.preset(25 * 1024 * 1024, rules.size(1, 2 ** 31)),
  /** Time limit for an upload without progress (then 408) or its turn (then 503). Milliseconds, from 100. @default 15000 */
  uploadIdleMs: rules.preset(15_000, rules.time(100)),
  /**
   * Time for validating and cleaning an upload, in milliseconds, 0 to 60000. After it the client gets 202, and the
   * work continues in the background. `false`: clients wait, unless they send `Prefer: respond-async`.
   * @default 2000
   */
  asyncAfterMs: rules.preset(2000, rules.orFalse(rules.time(0, 60_000))),
  /**
   * Lets clients create images from URLs, which this process fetches: `POST {base}/api/images.json` with `{ "url": …
   * }`. `true`: the defaults of `ImportUrlsOptions`, which also apply to `images.add({ url })`.
   * @default false
   */
  importUrls: rules.preset(
    false,
    rules.either(
      `true, false, or an object of options (${Object.keys(IMPORT_RULES).join(", ")})`,
      IMPORT_RULES,
      rules.flag(),
    ),
  ),
  /**
   * Lets clients resume uploads, by tus 1.0 at `{base}/api/uploads`. `true` keeps unfinished ones in the directory of the storage.
   * @default false
   */
  resumable: RESUMABLE_RULE,
  /** Keeps place, camera, author and other EXIF, XMP and IPTC data in stored originals. @default false */
  keepMetadata: rules.preset(false, rules.flag()),
  /** Keeps actions, scripts, attached files and multimedia in stored PDFs. @default false */
  keepPdfActions: rules.preset(false, rules.flag()),
  /**
   * Lifetime of an image without `expiresAt`, in milliseconds, up to 1,000 years. `null`: it never expires; over HTTP it lives for
   * `maxLifetimeMs`. @default 86400000 (24 hours)
   */
  defaultLifetimeMs: rules.preset(DAY_MS, rules.orNull(rules.time(1, MAX_LIFETIME_MS))),
  /**
   * Longest lifetime that `expiresAt` may set, in milliseconds from now, up to 1,000 years. `null`: no limit; clients
   * may keep an image for ever.
   * @default 31536000000 (365 days)
   */
  maxLifetimeMs: rules.preset(365 * DAY_MS, rules.orNull(rules.time(1, MAX_LIFETIME_MS))),
  /** Days for which a gone image answers 410 before it answers 404, 0 to 3650. @default 30 */
  tombstoneDays: rules.preset(30, rules.time(0, 3650, DAY_MS)),
  /**
   * Interval in which this process deletes expired images and orphaned files. Milliseconds, 1000 to 86400000.
   * `false`: only when {@link Images.sweep} is called. Any number of processes may sweep.
   * @default 60000
   */
  sweepEveryMs: rules.preset(60_000, rules.orFalse(rules.time(1000, DAY_MS))),
  /**
   * Decides about each request, and names the owner of each upload. @default Everyone may create and read; the PIN
   * allows editing.
   */
  authorize: rules.fn<Authorize>(),
  ...INSPECT_RULES,
  /**
   * Lets everybody who may read an image report it to you: a link on its page, a form, and `POST {base}/api/reports.json`. A report
   * is due after 48 hours, or after `hours`, 1 to 720. See {@link ImageAdmin.reports}.
   * @default false
   */
  reports: rules.preset(
    false,
    rules.either("true, false, or { hours }", { hours: rules.preset(48, rules.whole(1, 720)) }, rules.flag()),
  ),
  /** Limits of each owner that `authorize` names, unless it returns others. @default no limits */
  ownerLimits: rules.preset({}, rules.nested(OWNER_LIMITS)),
  /** Web origins that may use the API from a browser. @default none */
  cors: CORS_RULE,
  /**
   * Sizes that clients may request. `any`: all. `steps`: the next larger of fixed steps of the longer side, from 64
   * to 8192 pixels; `{ steps: [400, 1200] }` sets 1 to 64 steps, each 1 to 8192. `signed`: `resize`, `convert` and `page` need a URL
   * signed by {@link Images.address}. Presets and signed URLs always get their exact size.
   * @default "any"
   */
  sizes: SIZES_RULE,
  /**
   * Renditions by name, e.g. `{ thumb: { resize: "256x256" } }` for `?preset=thumb`. A name has 1 to 32 of `a-z`,
   * `0-9` and `-`. Only presets can apply edits such as a watermark.
   * @default none
   */
  presets: PRESETS_RULE,
  /**
   * Seconds for which caches may serve a picture without revalidating, from 0. A deletion takes up to that long to
   * reach every reader.
   * @default 300
   */
  cacheSeconds: rules.preset(300, rules.time(0, undefined, 1000)),
  /**
   * Header that carries the image's ID for a CDN, such as `Cache-Tag`, `Surrogate-Key` or `xkey`. One purge of that
   * tag removes all copies of the image: see `onPurge`.
   * @default not sent
   */
  cacheTag: rules.text(
    "the name of a header that replies do not have otherwise, such as Cache-Tag",
    (name) => HEADER_NAME.test(name) && !OTHER_HEADERS.test(name),
  ),
  /**
   * Lets the proxy in front send originals of more than 2 MiB from the disk: the reply names the file in a header and
   * has no body. Needs originals in a directory that the proxy can read, and a proxy that all requests pass.
   * @default this process sends all bytes
   */
  sendfile: SENDFILE_RULE,
  /** Memory for frequently read pictures, in bytes from 0. @default 67108864 (64 MiB) */
  memoryBytes: rules.preset(64 * 1024 * 1024, rules.size(0)),
  /**
   * Rate limits per client. `false` switches off all of them, and the limit of queued and running renders per client.
   * @default the defaults of `ImageRateLimits`
   */
  rateLimits: rules.preset({}, rules.orFalse(rules.nested(RATE_LIMIT_RULES))),
  /**
   * CPU seconds per client and minute for new renditions and checks of uploads, 1 to 3600. A client beyond it gets
   * 429 for sizes that are not stored while others wait for the renderer, and beyond five times the budget at any
   * time. An IPv6 /48 has 8 budgets, all clients together 100. `false`: no budget.
   * @default 20
   */
  renderBudget: rules.preset(20, rules.orFalse(rules.whole(1, 3600))),
  /**
   * Counts requests. Processes that share it share the limits; while it is unavailable, each counts for itself. Not
   * closed with the service.
   * @default in the memory of this process
   */
  rateLimiter: shapes.rateLimiter,
  /**
   * Whether this process works on uploads that any process answered with 202. At least one process on the storage
   * must.
   * @default true
   */
  processUploads: rules.preset(true, rules.flag()),
  /** `"host"` passes unexpected failures to the error handling of the host app. @default "reply" (a plain 500) */
  errors: rules.preset("reply", rules.oneOf("reply", "host")),
  /** Called with every unexpected failure and every failure of a backend. @default the logger, else console.error */
  onError: rules.fn<(error: unknown, call?: Call) => void>(),
  /**
   * Called with each image as soon as it can be served: at least once, even if processes die. No reply waits for it. If it rejects or
   * takes more than 10 s, `onError` gets that, and it is called again after 5 s, 30 s, 5 min, and up to 12 h, for 7 days.
   * @default not called
   */
  onStored: rules.fn<(image: ImageSummary) => unknown>(),
  /**
   * Called, like `onStored`, with each image that is no longer served. Its bytes may exist for a moment longer.
   * @default not called
   */
  onRemoved: rules.fn<(image: ImageSummary, why: GoneReason) => unknown>(),
  /** Servers that get the events of images, as `images.events` does, by Standard Webhooks. @default none */
  webhooks: rules.refined(rules.nested(WEBHOOKS_RULES), webhookFaults(IMAGE_EVENT_TYPES)),
  /**
   * Called when cached copies of an image must go: after a takedown, a deletion, or an edit that changes replies. Not for an expiry: no
   * copy outlives it. No event: it is called once, in the process of the change, also if the change may have failed.
   * @default not called
   */
  onPurge: rules.fn<(image: PurgedImage, why: PurgeReason) => unknown>(),
  /** Receives events: stored, removed, withheld, released. Never receives a PIN. @default nothing is logged */
  logger: shapes.logger,
  /**
   * The uploader's address in the log: whole, its network (the /24 of IPv4, the /48 of IPv6), or none.
   * @default "network"
   */
  logClients: rules.preset("network", rules.oneOf("full", "network", "none")),
  /** Receives metrics and traces; see `@outrigger/telemetry`. @default none */
  observer: shapes.observer,
  /** Returns the time in Unix milliseconds. @default Date.now */
  now: rules.preset(() => Date.now(), rules.fn<() => number>()),
};

export interface ImagesOptions extends rules.Options<typeof IMAGES_RULES> {}
