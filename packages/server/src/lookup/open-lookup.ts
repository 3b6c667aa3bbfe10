import { createLookup, type Lookup, type LookupOptions, type Observer } from "@outrigger/core";
import type { BlobStore, RateLimiter } from "@outrigger/core/stores";
import { createMailLists, createMailProber } from "@outrigger/verifier";
import type { Logger } from "pino";
import type { ServerSettings } from "../config/settings.ts";
import { openVerdictCache } from "../storage/open-storage.ts";
import { type LookupData, openLookupData, type WithLookup } from "./open-lookup-data.ts";
import { createSampleProber, seedSamples } from "./samples.ts";

/** The parts that the lookup shares with the images. */
export interface LookupParts {
  /** The store of image records; a local one also keeps a secret. */
  records: BlobStore;
  rateLimiter: RateLimiter | null;
  observer: Observer | null;
  logger: Logger;
  onTrouble(error: unknown): void;
  onError: NonNullable<LookupOptions["onError"]>;
}

/** A lookup that can be mounted. */
export interface OpenLookup {
  lookup: Lookup;
  /** The key to the samples; `null` without samples. */
  sampleKey: string | null;
  /** Rejects if the database does not respond. */
  check(): Promise<void>;
  /** Finishes requests in progress, then closes database and cache. */
  close(options?: { timeoutMs?: number }): Promise<void>;
}

/**
 * Opens the configured lookup.
 * @param withSamples Adds samples to a new database.
 * @throws StartError; nothing stays open.
 */
export async function openLookup(
  settings: ServerSettings & WithLookup,
  parts: LookupParts,
  withSamples: boolean,
): Promise<OpenLookup> {
  const data = await openLookupData(settings, parts.records);
  try {
    const sampleKey = withSamples ? await seedSamples(data) : null;
    return { ...(await connect(settings, parts, data, sampleKey !== null)), sampleKey };
  } catch (error) {
    await data.close();
    throw error;
  }
}

async function connect(
  { storage, tls, lookup: settings }: ServerSettings & WithLookup,
  { rateLimiter, observer, logger, onTrouble, onError }: LookupParts,
  data: LookupData,
  hasSamples: boolean,
): Promise<Omit<OpenLookup, "sampleKey">> {
  const { database: _, secret: __, smtp, dnsServers, ...options } = settings;
  const { contacts, accounts, suppressionList, suppressions, secrets } = data;
  if (observer !== null) data.database.observeWaits(observer);
  const [{ proberSecret }] = data.keys;
  const cache = (await openVerdictCache(storage, onTrouble)) ?? undefined;
  const prober = createMailProber({ smtp, dnsServers, cache, secret: proberSecret, onError: onTrouble });
  const lookup = createLookup({
    ...options,
    contacts,
    accounts,
    suppressions: suppressionList,
    secret: secrets,
    prober: hasSamples ? createSampleProber(prober, contacts) : prober,
    lists: createMailLists(),
    cache,
    rateLimiter: rateLimiter ?? undefined,
    observer: observer ?? undefined,
    tls,
    logger,
    onError,
  });
  return {
    lookup,
    async check() {
      // Any domain works: a result proves that the database responds and that its secret is unchanged.
      await suppressions.ofDomain("invalid");
    },
    async close(options) {
      await lookup.close(options);
      await cache?.disconnect();
      await data.close();
    },
  };
}
