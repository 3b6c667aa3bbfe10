import { statfsSync, statSync } from "node:fs";
import { type Call, createImages, type GaugeName, type Images, type Observer } from "@outrigger/core";
import type { Renderer } from "@outrigger/core/images";
import { distinctTargets, isShared, type StorageTarget } from "@outrigger/core/stores";
import { createPages } from "@outrigger/web";
import type { Logger } from "pino";
import { reasonOf } from "../../cli/error-reason.ts";
import { StartError } from "../../config/config-error.ts";
import type { ServerSettings } from "../../config/settings.ts";
import type { LookupParts, OpenLookup } from "../../lookup/open-lookup.ts";
import { chooseSecret } from "../../storage/choose-secret.ts";
import { refuseRoot, requireDataDirectories } from "../../storage/data-directory.ts";
import { endMigration } from "../../storage/end-migration.ts";
import { inspectTargets, lacksStore, refusalOf } from "../../storage/inspect-targets.ts";
import {
  isCache,
  type OpenStorage,
  type OpenTarget,
  openRateLimiter,
  openStorage,
} from "../../storage/open-storage.ts";
import { storageError } from "../../storage/storage-error.ts";
import { createReadiness } from "./readiness.ts";
import { safeTarget } from "./redact.ts";
import { requestIdOf } from "./request-log.ts";

/** Long, since the renderer starts processes, perhaps on a busy machine. */
const START_TIMEOUT_MS = 30_000;

/**
 * Opens and connects everything except the listeners. Checks storage and renderer first, because the image service starts to
 * sweep the storage at once.
 * @param withSamples Adds samples to a new database of the lookup.
 * @throws StartError; nothing but the renderer stays open.
 */
export async function openParts(
  settings: ServerSettings,
  logger: Logger,
  renderer: Renderer,
  withSamples: boolean,
) {
  const secret = chooseSecret(settings);
  const { records, originals, renditions } = settings.storage;
  refuseRoot([records, originals, renditions]);
  // Before a store would create them.
  if (settings.existing) requireDataDirectories([records, originals]);
  const isMissing = [records, originals, renditions].some(lacksStore);
  if (distinctTargets(settings.storage).length > 1 && isMissing) {
    const { existing: requireStore } = settings;
    await inspectTargets(settings.storage, { requireStore, acceptForeignRenditions: true });
  }
  const onTrouble = (err: unknown) => logger.debug({ err }, "connection to storage failed");
  const storage = await openStorage(settings.storage, onTrouble);
  const rateLimiter = isLimited(settings) ? await openRateLimiter(settings.storage, onTrouble) : null;
  const pages = createPages(settings.pages);
  let images: Images | null = null;
  let lookup: OpenLookup | null = null;
  async function close(options: { timeoutMs?: number } = {}): Promise<void> {
    await Promise.all([images?.close(options), lookup?.close(options)]);
    // The images close the renderer and the storage, too.
    if (images === null) await storage.close();
    await rateLimiter?.close();
  }
  try {
    // Opening the lookup checks it.
    const atStart = createReadiness({ storage: storage.targets, renderer, timeoutMs: START_TIMEOUT_MS });
    requireReady(await atStart.troubles(), storage, logger);
    await logWarnings(storage.targets, logger);
    logUnsharedLimits(settings, rateLimiter !== null, logger);
    const metrics = await createServerMetrics(settings);
    if (metrics !== null) watchSpace(storage.targets, metrics);
    const onError = failureLog(logger);
    // Where the storage is a directory, it has room for the unfinished uploads.
    const hasDirectory = [records, originals].some(({ kind }) => kind === "file");
    images = createImages({
      ...settings.images,
      resumable: settings.images.resumable ?? hasDirectory,
      requireStore: settings.existing,
      publicUrl: settings.publicUrl,
      tls: settings.tls,
      logger,
      logClients: settings.log.clients,
      onError,
      observer: metrics ?? undefined,
      secret,
      rateLimiter: rateLimiter ?? undefined,
      storage: storage.stores,
      renderer,
      pages,
    });
    // Before the lookup, which by default derives its secret from that of the images.
    await images.ready().catch(async (cause) => {
      throw await refusalOf(settings.storage, storage.stores, cause);
    });
    if (settings.lookup !== false) {
      // Loads modules that only the lookup needs, such as the databases.
      const { openLookup } = await import("../../lookup/open-lookup.ts");
      const parts: LookupParts = {
        records: storage.stores.records,
        rateLimiter,
        observer: metrics,
        logger,
        onTrouble,
        onError,
      };
      lookup = await openLookup({ ...settings, lookup: settings.lookup }, parts, withSamples);
    }
    return { storage, pages, metrics, images, lookup, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Logs warnings about stores that could lose images, and marks the stores as in use, so that no migration overwrites them.
 * @throws StartError for a store that cannot serve its roles, or holds only some of the images.
 */
async function logWarnings(targets: readonly OpenTarget[], logger: Logger): Promise<void> {
  await endMigration(targets);
  for (const { roles, warnings } of targets) {
    if (isCache(roles)) continue;
    for (const text of await warnings()) logger.warn({ roles }, text);
  }
}

/** Logs that each process on the same images counts requests separately, if that is so. */
function logUnsharedLimits({ storage, images }: ServerSettings, areShared: boolean, logger: Logger): void {
  const isCounted = images.rateLimits !== false || images.renderBudget !== false;
  if (!isCounted || areShared || !isShared(storage.records)) return;
  logger.info("Rate limits count per process: a client may use the full limit at each server.");
}

/** Whether requests or CPU time of clients are limited. */
function isLimited({ images, lookup }: ServerSettings): boolean {
  const isCounted = images.rateLimits !== false || images.renderBudget !== false;
  return isCounted || (lookup !== false && lookup.requestsPerSecond !== false);
}

function failureLog(logger: Logger) {
  return (err: unknown, call?: Call): void => {
    const request =
      call === undefined
        ? {}
        : { id: requestIdOf(call.context), method: call.method, path: safeTarget(call.path) };
    logger.error({ ...request, err }, "failed");
  };
}

/** @throws StartError for a part that does not work. Renditions are only warned about: they are rendered again. */
function requireReady(troubles: Record<string, unknown>, { targets }: OpenStorage, logger: Logger): void {
  for (const { target, roles } of targets) {
    const name = ["storage", ...roles].find((part) => part in troubles);
    if (name === undefined) continue;
    const error = storageError(target, roles, troubles[name]);
    if (!isCache(roles)) throw error;
    logger.warn({ renditions: "failing" }, `${error.message}. Images are served without it`);
  }
  if ("renderer" in troubles) {
    const cause = troubles.renderer;
    throw new StartError(`The renderer does not work: ${reasonOf(cause)}`, { cause });
  }
}

/** The metrics; `null` without `metrics` in the configuration: their package is not loaded. */
async function createServerMetrics({ metrics }: ServerSettings) {
  if (!metrics) return null;
  const { createMetrics } = await import("@outrigger/telemetry");
  return createMetrics(await withProcessMetrics());
}

/** A registry with the metrics of the process. */
async function withProcessMetrics() {
  const client = await import("prom-client");
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  return { client, registry };
}

/** Registers gauges for the free space of the file systems of data directories, each file system once. */
function watchSpace(targets: readonly { target: StorageTarget }[], observer: Observer): void {
  const devices = new Set<number>();
  for (const { target } of targets) {
    if (target.kind !== "file") continue;
    const { directory } = target;
    const dev = statSync(directory, { throwIfNoEntry: false })?.dev;
    if (dev === undefined || devices.has(dev)) continue;
    devices.add(dev);
    const read = readerOf(directory);
    const add = (name: GaugeName, number: (stats: ReturnType<typeof read>) => number) =>
      observer.gauge(name, () => number(read()));
    add("storage_free_bytes", ({ bavail, bsize }) => bavail * bsize);
    add("storage_total_bytes", ({ blocks, bsize }) => blocks * bsize);
    // btrfs and others allocate inodes on demand and report none.
    if (read().files === 0) continue;
    add("storage_free_inodes", ({ ffree }) => ffree);
    add("storage_total_inodes", ({ files }) => files);
  }
}

/** Reads the statistics of a file system; if that fails, returns the last ones. */
function readerOf(directory: string) {
  let last = statfsSync(directory);
  return () => {
    try {
      last = statfsSync(directory);
    } catch {
      // Gauges must not fail with the disk: readiness reports its error.
    }
    return last;
  };
}
