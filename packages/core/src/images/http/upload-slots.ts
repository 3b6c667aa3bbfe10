import type { UploadSlot } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";
import { type EntryOptions, FairGate, type Slot } from "../../http/fair-gate.ts";

/** Maximum number of uploads that are read concurrently, over all clients. */
export const MAX_READING = 4;
/**
 * Maximum number of uploads of one client that are begun and unanswered. Equals the number that may wait for
 * validation.
 */
export const MAX_UNANSWERED = 16;
/** An upload is read for this time, then it enters the gate again. */
export const SLICE_MS = 100;
/** What a slot costs at least for each millisecond, so that a slow sender pays for the time that it takes from others. */
const LEAST_BYTES_PER_MS = 10_000;
/** Maximum total waiting time of one upload. */
const MAX_WAITS_MS = 120_000;
const RETRY_AFTER_MS = 5000;

type Enter = (given: EntryOptions) => Promise<Slot>;

/** Reads uploads in slices, fairly between clients: each slice enters the gate again, and costs its bytes. */
export class UploadGate {
  readonly #reading = new FairGate({ slots: MAX_READING, isPreemptive: true, refuse: tooMany });
  readonly #unanswered = new FairGate({ slots: Number.POSITIVE_INFINITY, refuse: tooMany });
  readonly #maxUnanswered: number;

  /** @param maxUnanswered See {@link MAX_UNANSWERED}. */
  constructor(maxUnanswered = MAX_UNANSWERED) {
    this.#maxUnanswered = maxUnanswered;
  }

  /** @param maxWaitMs Longest single wait in milliseconds. */
  open(client: string, maxWaitMs: number): GatedUpload {
    const begin = (given: EntryOptions) =>
      this.#unanswered.enter(client, { ...given, maxSlots: this.#maxUnanswered });
    return new GatedUpload(client, maxWaitMs, begin, (given) => this.#reading.enter(client, given));
  }
}

/** One upload, from its first byte to its reply. */
export class GatedUpload implements UploadSlot {
  readonly client: string;
  readonly #begin: Enter;
  readonly #read: Enter;
  readonly #maxWaitMs: number;
  #leftMs = MAX_WAITS_MS;
  /** Counts it among the unanswered uploads of its client. */
  #whole: Slot | null = null;
  #slice: { slot: Slot; sinceMs: number; bytes: number; timer: NodeJS.Timeout } | null = null;

  constructor(client: string, maxWaitMs: number, begin: Enter, read: Enter) {
    this.client = client;
    this.#maxWaitMs = maxWaitMs;
    this.#begin = begin;
    this.#read = read;
  }

  /** Waits until the client has few enough unanswered uploads. Rejects as {@link wait}. */
  async begin(signal: AbortSignal): Promise<void> {
    this.#whole ??= await this.#enter(this.#begin, signal);
  }

  async wait(signal: AbortSignal): Promise<void> {
    await this.begin(signal);
    if (this.#slice !== null) return;
    const slot = await this.#enter(this.#read, signal);
    const timer = setTimeout(() => this.end(), SLICE_MS);
    this.#slice = { slot, sinceMs: performance.now(), bytes: 0, timer };
  }

  mayRead(bytes: number): boolean {
    if (this.#slice?.slot.signal.aborted) this.end();
    if (this.#slice === null) return false;
    this.#slice.bytes += bytes;
    return true;
  }

  end(): void {
    if (this.#slice === null) return;
    const { slot, sinceMs, bytes, timer } = this.#slice;
    this.#slice = null;
    clearTimeout(timer);
    slot.charge(Math.max(bytes, (performance.now() - sinceMs) * LEAST_BYTES_PER_MS));
    slot.leave();
  }

  /** Ends the upload. May be called twice. */
  done(): void {
    this.end();
    this.#whole?.leave();
  }

  async #enter(enter: Enter, signal: AbortSignal): Promise<Slot> {
    const sinceMs = performance.now();
    try {
      return await enter({ signal, maxWaitMs: Math.max(0, Math.min(this.#maxWaitMs, this.#leftMs)) });
    } finally {
      const waitedMs = performance.now() - sinceMs;
      // Each slice begins in a later round of the event loop, also where nothing else waits.
      if (waitedMs > SLICE_MS) this.#leftMs -= waitedMs;
    }
  }
}

function tooMany(): ServiceError {
  return new ServiceError("overloaded", "Too many uploads are arriving. Try again later.", {
    retryAfterMs: RETRY_AFTER_MS,
  });
}
