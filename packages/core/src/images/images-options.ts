import type { Call } from "../contracts/call.ts";
import type { JobQueue } from "../contracts/job-queue.ts";
import type { Logger } from "../contracts/logger.ts";
import type { Observer } from "../contracts/observer.ts";
import type { Pages } from "../contracts/pages.ts";
import type { RateLimiter } from "../contracts/rate-limiter.ts";
import type { Renderer } from "../contracts/renderer.ts";
import type { CorsOptions } from "../http/cors.ts";
import type { TlsPolicy } from "../http/transport.ts";
import type { Authorize } from "./authorize.ts";
import type { OwnerLimits } from "./owners/owner-usage.ts";
import type { GoneReason } from "./record/image-record.ts";
import type { ImageSummary } from "./record/image-summary.ts";
import type { Secret } from "./record/pin.ts";
import type { ImageStorage } from "./record/storage-roles.ts";
import type { PresetOption } from "./renditions/presets.ts";
import type { SizesOption } from "./renditions/sizes.ts";

/** Requests per client address (IPv6: per /64) and minute, each from 1; `false` switches a limit off. */
export interface ImageRateLimits {
  /** Uploads. @default 60 */
  creates?: number | false;
  /** Pictures, records and pages. @default 1200 */
  reads?: number | false;
  /** Changes and deletions. @default 30 */
  edits?: number | false;
  /** Wrong PINs. @default 10 */
  pinFailures?: number | false;
}

export interface ImagesOptions {
  /** Where images are kept: one store for everything, or `{ records, originals, renditions }`. Closed with the service. */
  storage: ImageStorage;
  /** Checks, cleans and draws pictures; see `@outrigger/imaging`. Closed with the service. */
  renderer: Renderer;
  /**
   * At least 32 bytes that PINs are derived from; a list rotates them: the first signs, all verify. Who changes it makes
   * all PINs invalid. @default A store on one machine's disk keeps its own; other stores refuse to start without it.
   */
  secret?: Secret;
  /**
   * Refuses a storage without data, as an unmounted volume shows it, instead of beginning a new one: all calls answer 503, and
   * {@link Images.ready} rejects. @default false
   */
  requireStore?: boolean;
  /** What browsers are shown; see `@outrigger/web`. @default none: no HTML is served */
  pages?: Pages;
  /**
   * Absolute http(s) URL of the mount point, e.g. `https://example.com/img`, without credentials, query or fragment. Set it
   * wherever you know it.
   * @default What the host framework makes of the request: protocol, host and mount path.
   */
  publicUrl?: string;
  /** Hosts (`name` or `name:port`) that requests may name, at least one; others get 400. @default all */
  allowedHosts?: readonly string[];
  /**
   * What to ask of the connection: `required` exempts a loopback peer that is no proxy, so that development works; `always`
   * exempts no peer; `off` where another layer ensures TLS. @default "required"
   */
  tls?: TlsPolicy;
  /** Largest file, 1 to 2^31 bytes. @default 26214400 (25 MiB) */
  maxUploadBytes?: number;
  /**
   * An upload without progress for this long ends with 408, one that waits for its turn for this long with 503; milliseconds
   * from 100. @default 15000
   */
  uploadIdleMs?: number;
  /**
   * An upload that arrives slower than this on average ends with 408, looked at from half a minute on; bytes per second,
   * `0` never. @default 1024
   */
  minUploadBytesPerSecond?: number;
  /**
   * An upload that takes longer to check and clean is answered with 202 and worked on behind; milliseconds from 0 to 60000.
   * `false`: clients wait, unless they send `Prefer: respond-async`. @default 2000
   */
  asyncAfterMs?: number | false;
  /** Leaves place, camera, author and other EXIF, XMP and IPTC in the stored originals. @default false */
  keepMetadata?: boolean;
  /** Life of an image without `expiresAt`, in milliseconds, up to a thousand years. @default 86400000 (24 hours) */
  defaultLifetimeMs?: number;
  /** Longest life that `expiresAt` may ask for, in milliseconds from now, up to a thousand years. @default 31536000000 (365 days) */
  maxLifetimeMs?: number;
  /** How long an image that has expired or was deleted answers 410, before it is unknown (404); days from 0 to 3650. @default 30 */
  tombstoneDays?: number;
  /**
   * How often this process removes what has expired, in milliseconds from 1000 to 86400000; `false`: never by itself, only when
   * {@link Images.sweep} is called. Any number of processes may do it. @default 60000
   */
  sweepEveryMs?: number | false;
  /** Decides about each request, and names the owner of each upload. @default Everyone may create and read, the PIN edits. */
  authorize?: Authorize;
  /** What an owner that `authorize` names may have at a time, unless it says otherwise. @default no limits */
  ownerLimits?: OwnerLimits;
  /** Which other web origins may use the API from a browser. @default none */
  cors?: CorsOptions;
  /**
   * Which sizes a stranger may ask for: `any`; `steps` of longer sides from 64 to 8192 pixels, or your own as `{ steps: [400, 1200] }`,
   * where a request gets the next larger step; `signed`, where `resize`, `convert` and `page` need an address of {@link Images.address}.
   * Presets and signed addresses get exactly what they name. @default "any"
   */
  sizes?: SizesOption;
  /**
   * Renditions by name, e.g. `{ thumb: { resize: "256x256" } }` for `?preset=thumb`. A name has 1 to 32 of `a-z`, `0-9` and `-`.
   * @default none
   */
  presets?: Readonly<Record<string, PresetOption>>;
  /** How long caches may keep a picture without asking, in seconds from 0: a deletion reaches them within it. @default 300 */
  cacheSeconds?: number;
  /** Memory for often read pictures, in bytes from 0. @default 67108864 (64 MiB) */
  memoryBytes?: number;
  /**
   * Bytes of all stored renditions together, from 1048576; `false`: any. Beyond it, the renditions of the images that were
   * used the longest ago are removed, until the store is a tenth below. They are rendered again when they are asked for.
   * @default 10737418240 (10 GiB)
   */
  maxRenditionBytes?: number | false;
  /**
   * Days after its last use in which an image keeps its stored renditions, 1 to 3650; `false`: as long as it lives. Needs
   * sweeps: see `sweepEveryMs`. @default 30
   */
  renditionsIdleDays?: number | false;
  /**
   * How much one client may ask for. `false` switches these limits off, and lets one client have any number of pictures in
   * line and under way. @default the limits that {@link ImageRateLimits} names
   */
  rateLimits?: ImageRateLimits | false;
  /**
   * CPU seconds per client and minute that new renditions and checks of uploads may take, 1 to 3600. A client that has used
   * them up gets 429 for sizes that are not stored, while other clients wait for the renderer or after five times as many.
   * `false`: no budget. @default 20
   */
  renderBudget?: number | false;
  /**
   * Where the limits are counted; processes that share it share them. While it is away, each counts for itself. Not closed with
   * the service. @default In this process' memory.
   */
  rateLimiter?: RateLimiter;
  /**
   * Hands uploads that were answered with 202 to whichever process has time for them; closed with the service. See
   * `@outrigger/redis/bullmq`. @default Each process does its own, and looks every few seconds for what others left undone.
   */
  jobQueue?: JobQueue;
  /**
   * Whether this process works on uploads that were answered with 202 by any process. Where none of those that share a
   * storage does, these uploads wait for ever. @default true
   */
  processUploads?: boolean;
  /** `"host"` leaves unexpected failures to the host app's own error handling. @default "reply" (a plain 500) */
  errors?: "reply" | "host";
  /** Told of every unexpected failure and every trouble of a backend. @default The logger; without one, console.error */
  onError?: (error: unknown, call?: Call) => void;
  /**
   * Called with each image that can be served from now on. No reply waits for it, and its failures go to `onError`. A process
   * that dies at this moment does not call it. @default not called
   */
  onStored?: (image: ImageSummary) => unknown;
  /** Called as `onStored`, with each image that is not served any more. Its bytes may still be there for a moment. @default not called */
  onRemoved?: (image: ImageSummary, why: GoneReason) => unknown;
  /** Where events are logged: stored, removed, withheld, released. Never a PIN. @default nowhere */
  logger?: Logger;
  /** For metrics and traces; see `@outrigger/telemetry`. @default none */
  observer?: Observer;
  /** The time in Unix milliseconds. @default Date.now */
  now?: () => number;
}
