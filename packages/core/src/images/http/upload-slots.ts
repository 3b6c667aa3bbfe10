import type { UploadSlot } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";
import { FairGate, type Slot } from "../../http/fair-gate.ts";

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
    const gates = {
      reading: this.#reading,
      unanswered: this.#unanswered,
      maxUnanswered: this.#maxUnanswered,
    };
    return new GatedUpload(client, maxWaitMs, gates);
  }
}

interface UploadGates {
  reading: FairGate;
  unanswered: FairGate;
  /** See {@link MAX_UNANSWERED}. */
  maxUnanswered: number;
}

/** One upload, from its first byte to its reply. */
export class GatedUpload implements UploadSlot {
  readonly client: string;
  readonly #gates: UploadGates;
  readonly #maxWaitMs: number;
  #leftMs = MAX_WAITS_MS;
  /** Counts it among the unanswered uploads of its client. */
  #whole: Slot | null = null;
  #slice: { slot: Slot; sinceMs: number; bytes: number; timer: NodeJS.Timeout } | null = null;

  constructor(client: string, maxWaitMs: number, gates: UploadGates) {
    this.client = client;
    this.#maxWaitMs = maxWaitMs;
    this.#gates = gates;
  }

  /** Waits until the client has few enough unanswered uploads. Rejects as {@link wait}. */
  async begin(signal: AbortSignal): Promise<void> {
    const { unanswered, maxUnanswered } = this.#gates;
    this.#whole ??= await this.#enter(unanswered, signal, maxUnanswered);
  }

  async wait(signal: AbortSignal): Promise<void> {
    await this.begin(signal);
    if (this.#slice !== null) return;
    const slot = await this.#enter(this.#gates.reading, signal);
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

  async #enter(gate: FairGate, signal: AbortSignal, maxSlots = Number.POSITIVE_INFINITY): Promise<Slot> {
    const sinceMs = performance.now();
    const maxWaitMs = Math.max(0, Math.min(this.#maxWaitMs, this.#leftMs));
    try {
      return await gate.enter(this.client, { signal, maxWaitMs, maxSlots });
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
