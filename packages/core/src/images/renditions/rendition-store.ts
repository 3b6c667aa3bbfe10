import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { isSettledWithin } from "../../async/settled-within.ts";
import { type BlobStore, isLocalStore } from "../../contracts/blob-store.ts";
import { hasLeases } from "../../contracts/lease-store.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { type FailureListener, markReported } from "../../http/failure-listener.ts";
import { overlay } from "../../observe/observe-backends.ts";

/** A call without an answer after this time counts as failed. A write has longer. */
const READ_MS = 2000;
const WRITE_MS = 10_000;
/** Calls rest after a failure for a multiple of the time that it took, within these bounds. */
const LEAST_REST_MS = 1000;
const REST_FACTOR = 4;
const REPORT_MS = 30_000;

/** Calls that fail and rest together: a full or read-only store can still be read. */
interface Calls {
  patienceMs: number;
  /** The last failure; `null`: the last call succeeded. */
  error: ServiceError | null;
  /** After a failure: no call before this time, by the monotonic clock. */
  restsUntil: number;
}

/** A store of renditions as a cache: its failures are quick, rejected with `store_unavailable`, and reported every 30 s at most. */
export class RenditionStore {
  /** The given store with all its abilities. */
  readonly store: BlobStore;
  readonly #given: BlobStore;
  readonly #onError: FailureListener;
  #refusal: ServiceError | null = null;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(given: BlobStore, onError: FailureListener) {
    this.#given = given;
    this.#onError = onError;
    const reads = this.#guarded(READ_MS, ["get", "stat", "localPath", "leasesSupported"]);
    const writes = this.#guarded(WRITE_MS, ["put"]);
    const removals = this.#guarded(READ_MS, ["delete", "list", "removeNamed"]);
    const leases = this.#guarded(READ_MS, ["acquireLease", "renewLease", "releaseLease"]);
    const { acquireLease } = leases;
    this.store = overlay(given, {
      ...{ ...reads, ...writes, ...removals, ...leases },
      // Without leases, each process renders for itself.
      ...(hasLeases(given) && {
        acquireLease: (...args: unknown[]) => acquireLease?.(...args).catch(() => ""),
      }),
    });
  }

  /** Stops the use of a store of another storage. @param refusal `null`: the store is the right one. */
  refuse(refusal: ServiceError | null): void {
    this.#refusal = refusal;
    if (refusal !== null) this.#report(refusal);
  }

  #guarded(patienceMs: number, names: readonly string[]) {
    const calls: Calls = { patienceMs, error: null, restsUntil: 0 };
    const methods: Record<string, (...args: unknown[]) => Promise<unknown>> = {};
    for (const name of names) {
      const method: unknown = Reflect.get(this.#given, name);
      if (typeof method !== "function") continue;
      methods[name] = (...args) =>
        this.#attempt(calls, args, async () => Reflect.apply(method, this.#given, args));
    }
    return methods;
  }

  async #attempt(calls: Calls, args: unknown[], work: () => Promise<unknown>): Promise<unknown> {
    const began = performance.now();
    const known = this.#refusal ?? (began < calls.restsUntil ? calls.error : null);
    if (known !== null) throw known;
    // One call tries whether the store works again. The others do not wait for it.
    if (calls.error !== null) calls.restsUntil = began + calls.patienceMs;
    const working = work();
    try {
      if (!(await isSettledWithin(working, calls.patienceMs))) {
        void working.then((late) => Object(late).body?.destroy?.()).catch(() => undefined);
        throw new Error(`No answer within ${calls.patienceMs} ms`);
      }
      const done = await working;
      calls.error = null;
      return done;
    } catch (cause) {
      const isAborted = args.some((arg) => Object(arg).signal?.aborted === true);
      if (isAborted || isServiceError(cause, "bad_request") || isServiceError(cause, "conflict")) throw cause;
      const error = new ServiceError("store_unavailable", AWAY, { cause });
      const now = performance.now();
      const restMs = Math.max(LEAST_REST_MS, REST_FACTOR * (now - began));
      Object.assign(calls, { error, restsUntil: now + Math.min(restMs, REPORT_MS) });
      this.#report(error);
      await this.#makeAgain();
      throw error;
    }
  }

  /** Creates a directory that was removed, if the one above is there. */
  async #makeAgain(): Promise<void> {
    if (!isLocalStore(this.#given)) return;
    const { blobDirectory } = this.#given;
    for (const path of [dirname(blobDirectory), blobDirectory]) {
      // It exists, or the disk is missing: the next call tells.
      await mkdir(path, { mode: 0o700 }).catch(() => undefined);
    }
  }

  #report(error: ServiceError): void {
    const now = performance.now();
    if (now - this.#reportedAt >= REPORT_MS) {
      this.#reportedAt = now;
      this.#onError(error);
    }
    markReported(error);
  }
}

const AWAY =
  "The store of the renditions does not work. Images are served: their renditions are rendered for each request until it does";
