import { PolledValue } from "../async/polled-value.ts";
import { isSettledWithin } from "../async/settled-within.ts";
import { checkOptions } from "../check-options.ts";
import type { Service } from "../contracts/call.ts";
import { ServiceError } from "../errors.ts";
import { CLOSE_RULES } from "../http/service-shell.ts";
import type { ApiPart } from "../openapi/document.ts";
import { createDueList } from "../stores/due-list.ts";
import { createImageDescription, describeImages } from "./http/description/image-part.ts";
import { createImageService } from "./http/image-service.ts";
import { Permissions } from "./http/permissions.ts";
import { signedReads } from "./http/read-image.ts";
import { UploadGate } from "./http/upload-slots.ts";
import { type ImageSettings, imageSettings } from "./image-settings.ts";
import { IMAGES_RULES, type ImagesOptions } from "./images-options.ts";
import { createLibrary } from "./library/create-library.ts";
import type { ImageLibrary } from "./library/image-library.ts";
import { createImportGate } from "./library/import-url.ts";
import type { LibraryContext } from "./library/library-context.ts";
import {
  issueTicket,
  TICKET_RULES,
  type TicketOptions,
  type UploadTicket,
} from "./library/upload-tickets.ts";
import { createLife, EVENTS, type LifeContext } from "./life/create-life.ts";
import { adminOf, type ImageAdmin } from "./life/image-admin.ts";
import { sweepRemovals } from "./life/remove-owned.ts";
import { Sweeper } from "./life/sweeper.ts";
import { guardStores, type HostParts, openResumable, prepareParts } from "./prepare-parts.ts";
import { createInspectionGate } from "./processing/admit-upload.ts";
import { Jobs } from "./processing/jobs.ts";
import type { ProcessingContext } from "./processing/processing-context.ts";
import type { ImageEvent, ImageRecord } from "./record/image-record.ts";
import type { CurrentRecord } from "./record/image-records.ts";
import { countMarked } from "./record/marks.ts";
import { checkWatermarks } from "./renditions/presets.ts";
import { Renditions } from "./renditions/renditions.ts";
import { type AddressedRendition, type AddressOptions, writeAddress } from "./renditions/write-address.ts";

export interface CloseOptions {
  /**
   * Milliseconds to wait for requests and calls under way. Uploads that are not complete then get 503. The work behind
   * them gets as long again, at least 5 s.
   * @default 8000
   */
  timeoutMs?: number | undefined;
}

/** Image hosting: a service that an adapter mounts, and a library for code. */
export interface Images extends Service, ImageLibrary, ImageAdmin {
  /**
   * The address of an image or of a rendition: absolute if `publicUrl` is set, else the path below the mount point.
   * Does not check that the image exists. Rejects with `bad_request` if a request for the address would get 400, and
   * like {@link Images.ready} until the secret is available.
   * @param rendition @default the image URL
   * @example
   * await images.address(id, { format: "jpg", resize: "800x600" }, { signed: true, until: Date.now() + 3_600_000 });
   */
  address(id: string, rendition?: AddressedRendition, options?: AddressOptions): Promise<string>;
  /** Events of images, in this process. */
  events: {
    /**
     * Calls `handler` with each event: at least once, and those of one image in order. A handler that rejects or takes more than 10 s is
     * called again, like `onStored`. Subscribe at the start and in the same order in every process: the events of a process that died go
     * to the same handler of another one.
     * @returns unsubscribes
     * @example
     * images.events.subscribe(async ({ type, image }) => queue.add(type, image));
     */
    subscribe(handler: (event: ImageEvent) => unknown): () => void;
  };
  /**
   * An address to which a client without a session can upload one image: for phones, mail links and front ends of other
   * origins. `authorize` is not asked when it is used; owner, its limits and all checks of uploads hold. The same file again gets
   * the first reply, without PIN. Rejects with `bad_request`, and like {@link Images.ready} until the secret is available.
   * @example
   * const { url } = await images.ticket({ expiresIn: "10m", types: ["image/jpeg", "image/png"], owner: user.id });
   */
  ticket(options?: TicketOptions): Promise<UploadTicket>;
  /** Describes this service as a part of an API; see {@link createApiDescription}. */
  describe(): ApiPart;
  /**
   * Resolves when the service can serve: its secret is available, and the storage is the one that it started on.
   * Rejects with the reason otherwise. Checks on each call, so it suits a readiness probe.
   */
  ready(): Promise<void>;
  /**
   * Rejects new requests with 503 and new calls with `overloaded`, waits for those under way and for open reads, then
   * closes the renderer and the stores. Replies carry `Connection: close`. Uploads still being processed are left to other processes, or to the next
   * start. May be called twice.
   */
  close(options?: CloseOptions): Promise<void>;
}

/** Minimum time for the work behind requests to end, even if `timeoutMs` is shorter. */
const LEAST_END_MS = 5_000;

/**
 * Image hosting over the given storage and renderer.
 * @throws TypeError for an option out of range, and for a shared storage without `secret`.
 * @example
 * const images = createImages({ storage: createFsBlobStore({ directory: "./data" }), renderer: createRenderer() });
 * app.use("/img", express(images));
 */
export function createImages(options: ImagesOptions): Images {
  const checked = checkOptions("createImages", options, IMAGES_RULES);
  const settings = imageSettings(checked);
  const parts = prepareParts(checked, settings);
  const { given, roles, cache, renderer, observer } = parts;
  const renditions = new Renditions({
    ...roles,
    ...(cache && { renditions: cache.store }),
    leases: parts.leases,
    loadLiving: async (id) => unlessGone(await life.records.loadUnconfirmed(id)),
    renderer,
    renders: parts.renders,
    memoryBytes: settings.memoryBytes,
    now: settings.now,
    onError: settings.onError,
    observer,
    served: (from) => observer?.served(from),
  });
  const { guard, pins, signatures } = guardStores(parts, settings, checked.secret, () => renditions.open());
  const holdsOriginals = given.records === given.originals;
  const { life, claims, seenClock } = createLife(roles, settings, guard, renditions, holdsOriginals);
  const processing: ProcessingContext = {
    ...life,
    settings,
    originals: roles.originals,
    renditions,
    renderer,
    renders: parts.renders,
    inspections: createInspectionGate(),
    pending: createDueList(roles.records, "jobs"),
  };
  const resumable = openResumable(parts, settings, life.owners);
  const jobs = new Jobs(processing, createDueList(given.records, "jobs"));
  const sweeper = new Sweeper({
    context: life,
    everyMs: settings.sweepEveryMs,
    stores: Object.values(given),
    async alsoSweep(mayGoOn) {
      await claims.sweep();
      if (mayGoOn()) await life.events.sweep();
      if (mayGoOn()) await life.reports.sweep(mayGoOn);
      if (mayGoOn()) await sweepRemovals(life, mayGoOn);
      if (mayGoOn()) await resumable?.sweep();
      if (mayGoOn()) await renditions.sweep(mayGoOn).catch(settings.onError);
    },
    seenClock,
    observer: observer ?? null,
  });
  const reads = { sizes: settings.sizes, presets: settings.presets, signatures, now: settings.now };
  const library: LibraryContext = { ...processing, jobs, claims, imports: createImportGate(), pins, reads };
  const described = { pages: checked.pages ?? null, renderer, settings };
  const service = createImageService(
    {
      library,
      settings,
      permissions: new Permissions(settings.authorize, signedReads(reads, settings.now)),
      limiter: parts.limiter,
      uploads: new UploadGate(parts.isLimited ? undefined : Number.POSITIVE_INFINITY),
      resumable,
      pages: described.pages,
      description: createImageDescription(described),
    },
    { cors: checked.cors, observer },
  );
  // Opens now, so that a refusal is reported before the first request. Each call waits for it.
  const opened = guard.open().catch(() => undefined);
  const { events } = life;
  events.start(createDueList(given.records, EVENTS), () => guard.open());
  const work = startWork({ jobs, sweeper, life, opened, renditions, parts, settings });
  return {
    ...adminOf(life, sweeper),
    ...createLibrary(library, service.run, work.closed),
    async address(id, rendition, addressOptions) {
      await guard.open(); // The secret comes from the store.
      return writeAddress(settings.publicUrl ?? "", id, rendition, addressOptions, reads);
    },
    async ticket(ticketOptions) {
      const terms = checkOptions("ticket", ticketOptions, TICKET_RULES);
      await guard.open();
      return issueTicket(library, settings.publicUrl ?? "", terms, "code");
    },
    events: { subscribe: (handler) => events.subscribe(handler) },
    describe: () => describeImages(described),
    handle: service.handle,
    ...(service.answerNow && { answerNow: service.answerNow }),
    async ready() {
      await guard.confirmAll();
      await parts.leases();
    },
    async close(closeOptions) {
      const { timeoutMs } = checkOptions("close", closeOptions, CLOSE_RULES);
      await work.close(() => service.drain(timeoutMs), timeoutMs);
    },
  };
}

function unlessGone(current: CurrentRecord | null): ImageRecord | null {
  return current?.record.gone === null ? current.record : null;
}

/** The work of a service besides its requests. */
interface BackgroundWork {
  jobs: Jobs;
  sweeper: Sweeper;
  life: LifeContext;
  /** Settles when the stores were opened, or could not be. */
  opened: Promise<void>;
  renditions: Renditions;
  parts: HostParts;
  settings: ImageSettings;
}

/** Starts the background work. It ends when the service is closed. */
function startWork({ jobs, sweeper, life, opened, renditions, parts, settings }: BackgroundWork) {
  const { renderer, observer } = parts;
  const { events, marked, reports } = life;
  const { deliveries } = events;
  const held = new PolledValue(0, () => countMarked(marked, "held"));
  const closed = new AbortController();
  const gauges = [
    observer?.gauge("jobs_waiting", () => jobs.waiting),
    observer?.gauge("due_oldest_seconds", () => sweeper.oldestSeconds),
    settings.inspect !== null ? observer?.gauge("images_held", () => held.read()) : null,
    settings.reportHours !== null ? observer?.gauge("reports_overdue", () => reports.overdue.read()) : null,
    observer?.gauge("events_waiting", () => deliveries.backlog.waiting),
    observer?.gauge("events_oldest_seconds", () => deliveries.oldestSeconds),
    observer?.gauge("events_dead", () => deliveries.dead),
  ];
  let closing: Promise<void> | null = null;
  jobs.start();
  sweeper.start();
  // A failure is reported already, or each upload reports it.
  renderer.start?.().catch(() => undefined);
  void checkWatermarks(settings.presets, renderer, settings.onError);

  async function end(drain: () => Promise<void>, timeoutMs: number): Promise<void> {
    await drain();
    closed.abort(new ServiceError("overloaded", "The service is closed."));
    // The end of the other work may have events.
    const ended = Promise.all([jobs.close(), sweeper.close(), opened])
      .then(() => events.close())
      .then(() => renditions.close());
    await renderer.close();
    // A store that hangs must not delay its own closing for ever.
    await isSettledWithin(ended, Math.max(timeoutMs, LEAST_END_MS));
    for (const hide of gauges) hide?.();
    await parts.close();
  }

  return {
    closed: closed.signal,
    /** Ends the requests by `drain`, then the work, then the parts. */
    close(drain: () => Promise<void>, timeoutMs: number): Promise<void> {
      closing ??= end(drain, timeoutMs);
      return closing;
    },
  };
}
