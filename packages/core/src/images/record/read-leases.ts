import { setTimeout as delay } from "node:timers/promises";
import type { BlobStore } from "../../contracts/blob-store.ts";
import type { Observer } from "../../contracts/observer.ts";
import { onCode } from "../../errors.ts";
import { readAll } from "../../stores/blob-body.ts";
import { jsonIn } from "./image-record.ts";
import { FORMAT_VERSION, requireKnownVersion } from "./record-codec.ts";

/** A moment by both clocks of a process: the monotonic one may stand still while a machine is suspended, the other may be set. */
export interface Instant {
  monotonicMs: number;
  unixMs: number;
}

export interface ReadLeasesOptions {
  store: BlobStore;
  /** Duration of this process' leases in milliseconds; 0: it takes none. */
  leaseMs: number;
  /** The time in Unix milliseconds. */
  now(): number;
  onError(error: unknown): void;
  /** Receives the waits for leases. */
  observer?: Observer | undefined;
}

/** The longest possible lease in milliseconds. */
export const MAX_READ_LEASE_MS = 10_000;
const KEY = "read-lease";
const HOUR_MS = 3_600_000;
/** Processes announce their duration again after this time. */
const ANNOUNCE_EVERY_MS = HOUR_MS;
/** Pause after an announcement that failed. */
const RETRY_AFTER_MS = 10_000;
/** A process that could not announce it for this time takes no leases. */
const ANNOUNCED_FOR_MS = 12 * HOUR_MS;
/** Others respect an announcement for this time, in which clocks of machines may differ. */
const RESPECTED_FOR_MS = 24 * HOUR_MS;
/** Clocks run at speeds that differ by less than this share. */
const DRIFT = 0.01;
/** Timers may fire this early. */
const EARLY_MS = 2;

/** The longest duration in use, and when it was last announced. */
interface Announcement {
  ms: number;
  atMs: number;
}

/**
 * Leases for reads (C. Gray and D. Cheriton, "Leases", 1989): a process may serve an image for a fixed time after it asked for its
 * record, without asking again. A change of the image resolves only when every such lease has expired, so that no process serves
 * the earlier state afterwards, not even one that was suspended or that cannot reach the store.
 *
 * The processes share only the longest duration in use, under one key.
 */
export class ReadLeases {
  readonly #options: ReadLeasesOptions;
  /** Since when the duration is announced without a gap, by the monotonic clock. */
  #sinceMs = Number.POSITIVE_INFINITY;
  #announced: Instant | null = null;
  #failed: Instant | null = null;
  #announcing: Promise<void> | null = null;
  #reading: Promise<unknown> = Promise.resolve();
  #nextRead: Promise<Announcement | null> | null = null;

  constructor(options: ReadLeasesOptions) {
    this.#options = options;
  }

  now(): Instant {
    return { monotonicMs: performance.now(), unixMs: this.#options.now() };
  }

  /** Whether a record requested at that moment may still be served. */
  isValid(requested: Instant): boolean {
    const { leaseMs } = this.#options;
    if (leaseMs === 0) return false;
    return this.#ageOf(requested) < leaseMs && this.#isAnnounced(requested.monotonicMs);
  }

  /** Resolves when no process serves by leases what it requested before this call. */
  async outlast(): Promise<void> {
    const { now, observer } = this.#options;
    const longest = await this.#longest();
    if (longest === null || now() - longest.atMs >= RESPECTED_FOR_MS) return;
    const wait = () => delay(Math.ceil(longest.ms * (1 + DRIFT)) + EARLY_MS);
    await (observer?.observe({ kind: "wait", for: "read_lease" }, wait) ?? wait());
  }

  /** The announcement as of this call or later. Calls during a read share the next one. */
  #longest(): Promise<Announcement | null> {
    const { store, now } = this.#options;
    this.#nextRead ??= this.#reading.then(() => {
      this.#nextRead = null;
      // If it cannot be read, other processes may have leases all the same.
      const reading = readAnnouncement(store).catch(() => ({ ms: MAX_READ_LEASE_MS, atMs: now() }));
      this.#reading = reading;
      return reading;
    });
    return this.#nextRead;
  }

  /** Whether the duration had been announced when the record was requested. Announces it in the background. */
  #isAnnounced(requestedMs: number): boolean {
    const ageMs = this.#ageOf(this.#announced);
    const hasJustFailed = this.#ageOf(this.#failed) < RETRY_AFTER_MS;
    if (ageMs >= ANNOUNCE_EVERY_MS && !hasJustFailed) this.#announceBehind();
    return requestedMs >= this.#sinceMs && ageMs < ANNOUNCED_FOR_MS;
  }

  /** Time since an instant by the clock that shows more; infinite if the time was set back. */
  #ageOf(instant: Instant | null): number {
    if (instant === null) return Number.POSITIVE_INFINITY;
    const { monotonicMs, unixMs } = this.now();
    const passedMs = unixMs - instant.unixMs;
    return passedMs < 0 ? Number.POSITIVE_INFINITY : Math.max(passedMs, monotonicMs - instant.monotonicMs);
  }

  #announceBehind(): void {
    this.#announcing ??= this.#announce()
      .catch((error) => {
        this.#failed = this.now();
        this.#options.onError(error);
      })
      .finally(() => {
        this.#announcing = null;
      });
  }

  async #announce(): Promise<void> {
    const { store, leaseMs, now } = this.#options;
    for (;;) {
      const longest = await readAnnouncement(store);
      const isFresh = longest !== null && now() - longest.atMs < RESPECTED_FOR_MS;
      const ms = isFresh ? Math.max(longest.ms, leaseMs) : leaseMs;
      const bytes = Buffer.from(JSON.stringify({ v: FORMAT_VERSION, ms, atMs: now() }), "utf8");
      const announcing = store.put(KEY, bytes, { ifRevision: longest?.revision ?? null });
      // Another process announced its own.
      if ((await announcing.catch(onCode("conflict", null))) === null) continue;
      const isGap = this.#ageOf(this.#announced) >= ANNOUNCED_FOR_MS;
      this.#announced = this.now();
      if (isGap) this.#sinceMs = this.#announced.monotonicMs;
      return;
    }
  }
}

/** `null`: no process has leases. */
async function readAnnouncement(store: BlobStore): Promise<(Announcement & { revision: string }) | null> {
  const blob = await store.get(KEY);
  if (blob === null) return null;
  const value = jsonIn(await readAll(blob.body));
  const { v, ms, atMs } = Object(value) as { v?: unknown; ms?: unknown; atMs?: unknown }; // Checked here.
  requireKnownVersion(v, `The announcement of read leases (key "${KEY}")`);
  const isValid = typeof ms === "number" && ms >= 0 && ms <= MAX_READ_LEASE_MS && typeof atMs === "number";
  // A damaged one counts as the longest, until the next replaces it.
  return {
    ...(isValid ? { ms, atMs } : { ms: MAX_READ_LEASE_MS, atMs: Date.now() }),
    revision: blob.revision,
  };
}
