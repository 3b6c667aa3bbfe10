import { randomBytes } from "node:crypto";
import { isServiceError } from "@outrigger/core";
import { checkBlobKey, checkLeaseLength, type LeaseStore } from "@outrigger/core/stores";
import { readObject, removeObject, type S3Context } from "./s3-objects.ts";
import { putObject, type WriteCondition } from "./write-object.ts";

/** Content of the object of a lease that is held. */
interface Held {
  proof: string;
  leaseMs: number;
  revision: string;
}

/**
 * Stores leases as objects `leases/<key>` with their proof and length. A lease is held while its object exists. The
 * service has no clock that could end it. A process whose `acquireLease` was refused records the revision it saw
 * and the time, by its own monotonic clock. It replaces the object once the revision has not changed for the length
 * in the object. A renewal changes the revision.
 *
 * A process also records the objects that it wrote, so it renews and releases its leases without reading them.
 *
 * @param conditionOf Returns the headers of a write that succeeds only if there is no object (`null`), or only on
 * that revision. Rejects if the service does not support such a condition.
 */
export function createS3Leases(
  context: S3Context,
  conditionOf: (revision: string | null) => Promise<WriteCondition>,
): Omit<LeaseStore, "leasesSupported"> {
  const { settings } = context;
  const sightings = new LeaseSightings();
  /** By proof, until the lease is released or a write of it fails. */
  const own = new Map<string, OwnLease>();

  function objectKey(key: string): string {
    checkBlobKey(key);
    return `${settings.prefix}leases/${key}`;
  }

  async function read(object: string): Promise<Held | null> {
    const found = await readObject(context, object, undefined);
    if (found === null) return null;
    const [proof = "", length = ""] = String(found.body).split(" "); // Short, so never a stream.
    return { proof, leaseMs: Number(length), revision: found.revision };
  }

  /**
   * @returns whether the lease was written; `false` if its revision was not `seen`. After an error, its state
   * is unknown.
   */
  async function write(key: string, seen: string | null, proof: string, leaseMs: number): Promise<boolean> {
    own.delete(proof);
    const sentMs = performance.now();
    const body = Buffer.from(`${proof} ${leaseMs}`);
    try {
      const { revision } = await putObject(context, objectKey(key), body, () => conditionOf(seen));
      // Until then no other process can have seen this revision for the whole length.
      own.set(proof, { revision, untilMs: sentMs + leaseMs });
      sightings.forget(key);
      return true;
    } catch (error) {
      if (isServiceError(error, "conflict")) return false;
      throw error;
    }
  }

  return {
    async acquireLease(key, leaseMs) {
      const object = objectKey(key);
      checkLeaseLength(leaseMs);
      const proof = randomBytes(12).toString("base64url");
      // Most leases are free, so only a lease that was held at the last request is read first.
      if (!sightings.has(key) && (await write(key, null, proof, leaseMs))) return proof;
      const askedMs = performance.now();
      const held = await read(object);
      if (held !== null && sightings.unchangedMs(key, held.revision, askedMs) < held.leaseMs) return null;
      return (await write(key, held?.revision ?? null, proof, leaseMs)) ? proof : null;
    },

    async renewLease(key, proof, leaseMs) {
      const object = objectKey(key);
      checkLeaseLength(leaseMs);
      const last = own.get(proof)?.revision;
      if (last !== undefined && (await write(key, last, proof, leaseMs))) return true;
      const held = await read(object);
      return held?.proof === proof && (await write(key, held.revision, proof, leaseMs));
    },

    // Another process may replace an expired lease between the read and the DELETE, or before a DELETE
    // without a read that
    // arrives long after the call was given up. The DELETE then removes that process's lease, and a third
    // process may acquire
    // it at the same time. This is accepted: leases are advisory, and not every service supports conditional
    // deletes.
    async releaseLease(key, proof) {
      const object = objectKey(key);
      const untilMs = own.get(proof)?.untilMs ?? 0;
      own.delete(proof);
      // A call ends after about twice the time limit.
      const isOurs = performance.now() + 2 * settings.timeoutMs < untilMs;
      if (isOurs || (await read(object))?.proof === proof) await removeObject(context, object);
    },
  };
}

/**
 * Number of recorded keys. Beyond it, the least recently requested key is evicted, and its wait starts again.
 */
const MAX_KEYS = 10_000;

/** Records when each lease was first seen at its current revision, by the monotonic clock of this process. */
export class LeaseSightings {
  readonly #seen = new Map<string, { revision: string; sinceMs: number }>();

  /**
   * Records a revision and returns how long the lease is known to have had it, in milliseconds.
   * @param askedMs Time at which the lease was requested, by `performance.now()`: it may have changed since.
   */
  unchangedMs(key: string, revision: string, askedMs: number): number {
    const last = this.#seen.get(key);
    // The map is in the order of requests.
    this.#seen.delete(key);
    if (last?.revision === revision) {
      this.#seen.set(key, last);
      return askedMs - last.sinceMs;
    }
    this.#seen.set(key, { revision, sinceMs: performance.now() });
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= MAX_KEYS) break;
      this.#seen.delete(oldest);
    }
    return 0;
  }

  /** Whether the lease was held by another process when it was last requested. */
  has(key: string): boolean {
    return this.#seen.has(key);
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }
}

/** A lease that this process holds. */
interface OwnLease {
  /** Revision of the object that was written last. */
  revision: string;
  /** Time until which no other process can have replaced it, by `performance.now()`. */
  untilMs: number;
}
