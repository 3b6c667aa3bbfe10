import { isSettledWithin } from "../async/settled-within.ts";
import { checkOptions } from "../check-options.ts";
import { type BlobStore, isLocalStore } from "../contracts/blob-store.ts";
import type { Service } from "../contracts/call.ts";
import type { LeaseStore } from "../contracts/lease-store.ts";
import type { Observer } from "../contracts/observer.ts";
import type { Renderer } from "../contracts/renderer.ts";
import { ServiceError } from "../errors.ts";
import { CLOSE_RULES } from "../http/in-flight.ts";
import { observeRenderer, reportFailures, reportSandbox } from "../observe/observe-renderer.ts";
import { observeStore } from "../observe/observe-store.ts";
import { safeObserver } from "../observe/safe-observer.ts";
import type { ApiPart } from "../openapi/document.ts";
import type { Secret } from "../secret-bytes.ts";
import { createDueList } from "../stores/due-list.ts";
import { createFallbackRateLimiter } from "../stores/fallback-rate-limiter.ts";
import { createMemoryRateLimiter } from "../stores/memory/memory-rate-limiter.ts";
import { sweepSystemTemporary } from "../stores/system-temporary.ts";
import { createImageDescription, describeImages } from "./http/description/describe-images.ts";
import { createImageService } from "./http/image-service.ts";
import { createPermissions } from "./http/permissions.ts";
import { UploadGate } from "./http/upload-slots.ts";
import { IMAGES_RULES, type ImageSettings, imageSettings } from "./image-settings.ts";
import type { ImagesOptions } from "./images-options.ts";
import { createLibrary } from "./library/create-library.ts";
import type { ImageLibrary } from "./library/image-library.ts";
import { createImportGate } from "./library/import-url.ts";
import type { LibraryContext } from "./library/library-context.ts";
import { createLife } from "./life/create-life.ts";
import { adminOf, type ImageAdmin } from "./life/image-admin.ts";
import { Sweeper } from "./life/sweeper.ts";
import { Jobs } from "./processing/jobs.ts";
import type { ProcessingContext } from "./processing/processing-context.ts";
import { createPins, type Pins } from "./record/pin.ts";
import { closeStores, rolesOf, type StorageRoles } from "./record/storage-roles.ts";
import { type AddressSignatures, createAddressSignatures } from "./renditions/address-signatures.ts";
import { checkWatermarks } from "./renditions/presets.ts";
import type { ReadRules } from "./renditions/read-request.ts";
import { RenderGate } from "./renditions/render-gate.ts";
import { Renditions } from "./renditions/renditions.ts";
import { type AddressedRendition, type AddressOptions, writeAddress } from "./renditions/write-address.ts";
import { requireFiles } from "./sendfile.ts";
import { chooseLeases, NO_LEASES_WARNING } from "./store/choose-leases.ts";
import { openStore } from "./store/open-store.ts";
import { StoreGuard } from "./store/store-guard.ts";
import { type BytesRole, rolesApart, rolesToWatch } from "./store/store-identity.ts";

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
  const given = rolesOf(checked.storage);
  requireSecret(checked.secret, given.records);
  requireFiles(checked.sendfile, given.originals);
  // Without a spool of its own, this store receives uploads through the system's temporary directory.
  if (!isLocalStore(given.originals)) sweepSystemTemporary();
  const limiter =
    checked.rateLimiter === undefined
      ? createMemoryRateLimiter()
      : createFallbackRateLimiter(checked.rateLimiter, settings.onError);
  const observer = checked.observer && safeObserver(checked.observer, settings.onError);
  const { renderer: reported, hide: hideSandbox } = reportSandbox(
    reportFailures(checked.renderer, settings.onError),
    settings.log,
    observer,
  );
  const { roles, renderer } = observed(given, reported, observer);
  const leases = leasesOf(roles, settings);
  const isLimited = checked.rateLimits !== false;
  const renders = new RenderGate(renderer, {
    limiter,
    cpuSeconds: settings.renderBudget,
    isLimited,
    observer,
    onError: settings.onError,
  });
  const renditions = new Renditions({
    ...roles,
    leases,
    loadLiving: async (id) => {
      const current = await life.records.loadUnconfirmed(id);
      return current === null || current.record.gone !== null ? null : current.record;
    },
    renderer,
    renders,
    memoryBytes: settings.memoryBytes,
    idleDays: settings.renditionsIdleDays,
    now: settings.now,
    onError: settings.onError,
    served: (from) => observer?.served(from),
  });
  let pins: Pins | null = null;
  let signatures: AddressSignatures | null = null;
  let watched: BytesRole[] = [];
  const guard = new StoreGuard({
    stores: roles,
    async first() {
      const { secret } = checked;
      // An observer makes three objects of one store.
      const opened = await openStore({ ...settings, stores: roles, apart: rolesApart(given), secret });
      watched = rolesToWatch(given, opened.isMarked);
      pins = createPins(opened.secret);
      signatures = createAddressSignatures(opened.secret);
      await renditions.open();
      return opened.id;
    },
    watched: async () => watched,
    onError: settings.onError,
    log: settings.log,
  });
  const removeBytes = (id: string) => renditions.remove(id);
  const holdsOriginals = given.records === given.originals;
  const { life, claims, seenClock } = createLife(roles, settings, guard, removeBytes, holdsOriginals);
  const processing: ProcessingContext = {
    ...life,
    settings,
    originals: roles.originals,
    renditions,
    renderer,
    renders,
    pending: createDueList(roles.records, "jobs"),
  };
  const jobs = new Jobs(processing, createDueList(given.records, "jobs"));
  const hideJobs = observer?.gauge("jobs_waiting", () => jobs.waiting);
  const sweeper = new Sweeper({
    context: life,
    everyMs: settings.sweepEveryMs,
    stores: Object.values(given),
    async alsoSweep(mayGoOn) {
      await claims.sweep();
      if (mayGoOn()) await renditions.sweep(mayGoOn).catch(settings.onError);
    },
    seenClock,
    observer: observer ?? null,
  });
  const pages = checked.pages ?? null;
  const description = createImageDescription({ pages, renderer, settings });
  const reads: ReadRules = {
    sizes: settings.sizes,
    presets: settings.presets,
    signatures() {
      if (signatures === null) throw new Error("Signatures were requested before the store was open");
      return signatures;
    },
  };
  const imports = createImportGate();
  const library: LibraryContext = { ...processing, jobs, claims, imports, pins: pinsInUse, reads };
  const service = createImageService(
    {
      library,
      settings,
      permissions: createPermissions(settings.authorize),
      limiter,
      uploads: new UploadGate(isLimited ? undefined : Number.POSITIVE_INFINITY),
      pages,
      description,
    },
    { cors: checked.cors, observer },
  );
  const closed = new AbortController();
  jobs.start();
  sweeper.start();
  // Opens now, so that a refusal is reported before the first request. Each call waits for it.
  const opened = guard.open().catch(() => undefined);
  // A failure is reported already, or each upload reports it.
  renderer.start?.().catch(() => undefined);
  void checkWatermarks(settings.presets, renderer, settings.onError);
  let closing: Promise<void> | null = null;

  async function pinsInUse(): Promise<Pins> {
    await guard.open();
    if (pins === null) throw new Error("A store was opened without a secret");
    return pins;
  }

  async function close(timeoutMs: number): Promise<void> {
    await service.drain(timeoutMs);
    closed.abort(new ServiceError("overloaded", "The service is closed."));
    const ended = Promise.all([jobs.close(), sweeper.close(), opened]).then(() => renditions.close());
    await renderer.close();
    // A store that hangs must not delay its own closing for ever.
    await isSettledWithin(ended, Math.max(timeoutMs, LEAST_END_MS));
    hideJobs?.();
    hideSandbox();
    renders.close();
    await closeStores(given);
    await limiter.close();
  }

  return {
    ...adminOf(life, sweeper),
    ...createLibrary(library, service.run, closed.signal),
    async address(id, rendition, addressOptions) {
      // The secret comes from the store.
      await guard.open();
      const context = { ...reads, now: settings.now };
      return writeAddress(settings.publicUrl ?? "", id, rendition, addressOptions, context);
    },
    describe: () => describeImages({ pages, renderer, settings }),
    handle: (call) => service.handle(call),
    answerNow: (call, inFront) => service.answerNow?.(call, inFront),
    async ready() {
      await guard.confirmAll();
      // A failed choice of leases is retried by the first rendition. Everything else can be served meanwhile.
      await leases().catch(() => undefined);
    },
    async close(closeOptions) {
      const { timeoutMs } = checkOptions("close", closeOptions, CLOSE_RULES);
      closing ??= close(timeoutMs);
      await closing;
    },
  };
}

/** The lease store of the renditions, chosen once. Warns if there is none. */
function leasesOf(roles: StorageRoles, { log }: ImageSettings): () => Promise<LeaseStore | null> {
  let chosen: Promise<LeaseStore | null> | null = null;
  const choose = async () => {
    const { place, leases } = await chooseLeases(roles);
    if (place === "none") log.warn({ leases: place }, NO_LEASES_WARNING);
    return leases;
  };
  return () => {
    chosen ??= choose().catch((error) => {
      chosen = null;
      throw error;
    });
    return chosen;
  };
}

/** The stores and the renderer, observed if the host has an observer. */
function observed(roles: StorageRoles, renderer: Renderer, observer: Observer | undefined) {
  if (observer === undefined) return { roles, renderer };
  return {
    roles: {
      records: observeStore(roles.records, "records", observer),
      originals: observeStore(roles.originals, "originals", observer),
      renditions: observeStore(roles.renditions, "renditions", observer),
    },
    renderer: observeRenderer(renderer, observer),
  };
}

/** Checks that there can be a secret, before the first request to the store. */
function requireSecret(secret: Secret | undefined, records: BlobStore): void {
  if (secret === undefined && !isLocalStore(records)) {
    throw new TypeError(
      "secret is required: this storage does not create one. Pass at least 32 random bytes.",
    );
  }
}
