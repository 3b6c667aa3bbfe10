import type { Call } from "../contracts/call.ts";
import type { Logger } from "../contracts/logger.ts";
import type { Observer } from "../contracts/observer.ts";
import type { Pages } from "../contracts/pages.ts";
import type { RateLimiter } from "../contracts/rate-limiter.ts";
import type { Renderer } from "../contracts/renderer.ts";
import type { TlsPolicy } from "../http/client.ts";
import type { CorsOptions } from "../http/cors.ts";
import type { Secret } from "../secret-bytes.ts";
import type { Authorize } from "./authorize.ts";
import type { OwnerLimits } from "./owners/owner-usage.ts";
import type { GoneReason, ImageSummary, PurgedImage, PurgeReason } from "./record/image-record.ts";
import type { ImageStorage } from "./record/storage-roles.ts";
import type { PresetOption, SizesOption } from "./renditions/presets.ts";
import type { SendfileOptions } from "./sendfile.ts";

/**
 * A limit of requests: a number per minute, counted in windows of a minute, or a burst that refills. A client may send
 * `burst` requests at once; its allowance refills at `perMinute` requests a minute, steadily. Each is an integer from 1.
 */
export type RateLimitOption = number | { perMinute: number; burst: number };

/**
 * Limits of requests per client address (IPv6: per /64): a number per minute, or `{ perMinute, burst }`, of which
 * `burst` may come at once. `false` switches a limit off. For `creates` and `pinFailures`, an IPv6 /48 has 8 times
 * the limit per minute and all clients together 100 times, without bursts. Beyond the limit of all clients, each
 * network still has its own.
 */
export interface ImageRateLimits {
  /** Maximum number of uploads. @default `{ perMinute: 60, burst: 200 }` */
  creates?: RateLimitOption | false | undefined;
  /** Maximum number of reads: pictures, records and pages. @default 1200 */
  reads?: RateLimitOption | false | undefined;
  /** Maximum number of changes and deletions. @default 30 */
  edits?: RateLimitOption | false | undefined;
  /** Maximum number of wrong PINs. @default 10 */
  pinFailures?: RateLimitOption | false | undefined;
}

/** How images are fetched by URL. */
export interface ImportUrlsOptions {
  /** Ports that URLs may have, each 1 to 65535. @default [80, 443] */
  ports?: readonly number[] | undefined;
  /**
   * Hosts of your own network from which images are fetched: `name`, or `name:port` for a port that `ports` lacks.
   * Any client that may upload can then send GET requests to them.
   * @default none: only the public internet
   */
  internalHosts?: readonly string[] | undefined;
  /** Time limit of a fetch, redirects included. Milliseconds, 1000 to 300000. @default 30000 */
  timeoutMs?: number | undefined;
}

export interface ImagesOptions {
  /** One store for everything, or `{ records, originals, renditions }`. Closed with the service. */
  storage: ImageStorage;
  /** Validates, cleans and renders pictures; see `@outrigger/imaging`. Closed with the service. */
  renderer: Renderer;
  /**
   * Secret of at least 32 bytes that PINs are derived from. A text `base64:…` is decoded. In a list, the first signs
   * and all verify. Without the old secret in the list, all earlier PINs are invalid.
   * @default a store on a local disk creates its own; any other store requires it
   */
  secret?: Secret | undefined;
  /**
   * Refuses an empty storage, such as an unmounted volume, instead of initialising it: all calls answer 503, and
   * {@link Images.ready} rejects.
   * @default false
   */
  requireStore?: boolean | undefined;
  /** HTML pages for browsers; see `@outrigger/web`. @default none: no HTML is served */
  pages?: Pages | undefined;
  /**
   * Absolute http(s) URL of the mount point, e.g. `https://example.com/img`, without credentials, query or fragment.
   * Set it whenever the URL is known.
   * @default derived from each request: protocol, host and mount path
   */
  publicUrl?: string | undefined;
  /** Hosts (`name` or `name:port`) that requests may name. Other hosts get 400. @default all */
  allowedHosts?: readonly string[] | undefined;
  /**
   * Whether connections must use TLS. `required` exempts a loopback peer that is not a proxy, for development.
   * `always` exempts no peer. `off` leaves TLS to another layer. @default "required"
   */
  tls?: TlsPolicy | undefined;
  /** Largest file, 1 to 2^31 bytes. @default 26214400 (25 MiB) */
  maxUploadBytes?: number | undefined;
  /**
   * Time limit for an upload without progress (then 408) or waiting for its turn (then 503). Milliseconds, from 100.
   * @default 15000
   */
  uploadIdleMs?: number | undefined;
  /**
   * Minimum average speed of an upload in bytes per second, checked from 30 s on (an import: 5 s). A slower upload
   * gets 408. `0`: no minimum.
   * @default 1024
   */
  minUploadBytesPerSecond?: number | undefined;
  /**
   * Time for validating and cleaning an upload, in milliseconds, 0 to 60000. After it the client gets 202, and the
   * work continues in the background. `false`: clients wait, unless they send `Prefer: respond-async`.
   * @default 2000
   */
  asyncAfterMs?: number | false | undefined;
  /**
   * Lets clients create images from URLs, which this process fetches: `POST {base}/api/images.json` with `{ "url": …
   * }`. `true`: the defaults of `ImportUrlsOptions`, which also apply to `images.add({ url })`.
   * @default false
   */
  importUrls?: boolean | ImportUrlsOptions | undefined;
  /** Keeps place, camera, author and other EXIF, XMP and IPTC data in stored originals. @default false */
  keepMetadata?: boolean | undefined;
  /** Keeps actions, scripts, attached files and multimedia in stored PDFs. @default false */
  keepPdfActions?: boolean | undefined;
  /**
   * Lifetime of an image without `expiresAt`, in milliseconds, up to 1,000 years. `null`: it never expires; over HTTP it lives for
   * `maxLifetimeMs`. @default 86400000 (24 hours)
   */
  defaultLifetimeMs?: number | null | undefined;
  /**
   * Longest lifetime that `expiresAt` may set, in milliseconds from now, up to 1,000 years. `null`: no limit; clients
   * may keep an image for ever.
   * @default 31536000000 (365 days)
   */
  maxLifetimeMs?: number | null | undefined;
  /** Days for which a gone image answers 410 before it answers 404, 0 to 3650. @default 30 */
  tombstoneDays?: number | undefined;
  /**
   * With records in a remote store: how long this process may serve a picture from its memory without reading the
   * record again. Milliseconds, 0 to 10000. Edits, takedowns and deletions wait that long, until no process serves
   * the earlier state. Needs `rateLimits.reads` to be `false` or counted in memory. 0: every request reads the
   * record.
   * @default 0
   */
  readLeaseMs?: number | undefined;
  /**
   * Interval in which this process deletes expired images and orphaned files. Milliseconds, 1000 to 86400000.
   * `false`: only when {@link Images.sweep} is called. Any number of processes may sweep.
   * @default 60000
   */
  sweepEveryMs?: number | false | undefined;
  /**
   * Decides about each request, and names the owner of each upload. @default Everyone may create and read; the PIN
   * allows editing.
   */
  authorize?: Authorize | undefined;
  /** Limits of each owner that `authorize` names, unless it returns others. @default no limits */
  ownerLimits?: OwnerLimits | undefined;
  /** Web origins that may use the API from a browser. @default none */
  cors?: CorsOptions | undefined;
  /**
   * Sizes that clients may request. `any`: all. `steps`: the next larger of fixed steps of the longer side, from 64
   * to 8192 pixels; `{ steps: [400, 1200] }` sets the steps. `signed`: `resize`, `convert` and `page` need a URL
   * signed by {@link Images.address}. Presets and signed URLs always get their exact size.
   * @default "any"
   */
  sizes?: SizesOption | undefined;
  /**
   * Renditions by name, e.g. `{ thumb: { resize: "256x256" } }` for `?preset=thumb`. A name has 1 to 32 of `a-z`,
   * `0-9` and `-`. Only presets can apply edits such as a watermark.
   * @default none
   */
  presets?: Readonly<Record<string, PresetOption>> | undefined;
  /**
   * Seconds for which caches may serve a picture without revalidating, from 0. A deletion takes up to that long to
   * reach every reader.
   * @default 300
   */
  cacheSeconds?: number | undefined;
  /**
   * Header that carries the image's ID for a CDN, such as `Cache-Tag`, `Surrogate-Key` or `xkey`. One purge of that
   * tag removes all copies of the image: see `onPurge`.
   * @default not sent
   */
  cacheTag?: string | undefined;
  /**
   * Lets the proxy in front send originals of more than 2 MiB from the disk: the reply names the file in a header and
   * has no body. Needs originals in a directory that the proxy can read, and a proxy that all requests pass.
   * @default this process sends all bytes
   */
  sendfile?: SendfileOptions | undefined;
  /** Memory for frequently read pictures, in bytes from 0. @default 67108864 (64 MiB) */
  memoryBytes?: number | undefined;
  /**
   * Days after its last use for which an image keeps its stored renditions, 1 to 3650; the sweep deletes them.
   * `false`: as long as the image lives.
   * @default 30
   */
  renditionsIdleDays?: number | false | undefined;
  /**
   * Rate limits per client. `false` switches off all of them, and the limit of queued and running renders per client.
   * @default the defaults of `ImageRateLimits`
   */
  rateLimits?: ImageRateLimits | false | undefined;
  /**
   * CPU seconds per client and minute for new renditions and checks of uploads, 1 to 3600. A client beyond it gets
   * 429 for sizes that are not stored while others wait for the renderer, and beyond five times the budget at any
   * time. An IPv6 /48 has 8 budgets, all clients together 100. `false`: no budget.
   * @default 20
   */
  renderBudget?: number | false | undefined;
  /**
   * Counts requests. Processes that share it share the limits; while it is unavailable, each counts for itself. Not
   * closed with the service.
   * @default in the memory of this process
   */
  rateLimiter?: RateLimiter | undefined;
  /**
   * Whether this process works on uploads that any process answered with 202. At least one process on the storage
   * must.
   * @default true
   */
  processUploads?: boolean | undefined;
  /** `"host"` passes unexpected failures to the error handling of the host app. @default "reply" (a plain 500) */
  errors?: "reply" | "host" | undefined;
  /** Called with every unexpected failure and every failure of a backend. @default the logger, else console.error */
  onError?: ((error: unknown, call?: Call) => void) | undefined;
  /**
   * Called with each image as soon as it can be served. No reply waits for it, and its failures go to `onError`. Not
   * called if the process dies at that moment.
   * @default not called
   */
  onStored?: ((image: ImageSummary) => unknown) | undefined;
  /**
   * Called, like `onStored`, with each image that is no longer served. Its bytes may exist for a moment longer.
   * @default not called
   */
  onRemoved?: ((image: ImageSummary, why: GoneReason) => unknown) | undefined;
  /**
   * Called, like `onStored`, when cached copies of an image must go: after a takedown, a deletion, or an edit that
   * changes replies. Not called for an expiry: no copy outlives it.
   * @default not called
   */
  onPurge?: ((image: PurgedImage, why: PurgeReason) => unknown) | undefined;
  /** Receives events: stored, removed, withheld, released. Never receives a PIN. @default nothing is logged */
  logger?: Logger | undefined;
  /** Receives metrics and traces; see `@outrigger/telemetry`. @default none */
  observer?: Observer | undefined;
  /** Returns the time in Unix milliseconds. @default Date.now */
  now?: (() => number) | undefined;
}
