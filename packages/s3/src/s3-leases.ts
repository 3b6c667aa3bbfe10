import { randomBytes } from "node:crypto";
import { isServiceError, type LeaseStore } from "@outrigger/core";
import { checkBlobKey, checkLeaseLength } from "@outrigger/core/stores";
import { gatherBody } from "./gather-body.ts";
import { readObject, removeObject, type S3Context } from "./s3-objects.ts";
import { type WriteCondition, writeObject } from "./write-object.ts";

/** What is in the object of a lease that is held. */
interface Held {
  proof: string;
  leaseMs: number;
  revision: string;
}

/**
 * Leases as objects `leases/<key>`, each with its proof and length; it is held while it is there. A service has no clock that could
 * end one: who is refused remembers what it saw and since when, by its own clock, and takes the object's place once nothing has
 * changed for as long as its holder said. A renewal changes it.
 *
 * A process remembers what it wrote itself: a lease that it holds is renewed and given back without a look at it.
 *
 * @param conditionOf The headers that let a write through only where there is nothing (`null`), or that revision. Rejects where a
 * service has none.
 */
export function createS3Leases(
  context: S3Context,
  conditionOf: (revision: string | null) => Promise<WriteCondition>,
): Omit<LeaseStore, "leasesSupported"> {
  const { settings } = context;
  const sightings = createSightings();
  const own = createOwnLeases();

  function objectKey(key: string): string {
    checkBlobKey(key);
    return `${settings.prefix}leases/${key}`;
  }

  async function read(object: string): Promise<Held | null> {
    const found = await readObject(context, object, undefined);
    if (found === null) return null;
    const [proof = "", length = ""] = String(found.body).split(" "); // Too short to come as a stream.
    return { proof, leaseMs: Number(length), revision: found.revision };
  }

  /** @returns whether the lease was what it was seen to be. Nothing is known of one that could not be written. */
  async function write(key: string, seen: string | null, proof: string, leaseMs: number): Promise<boolean> {
    own.forget(key, proof);
    const sentMs = performance.now();
    const body = await gatherBody(Buffer.from(`${proof} ${leaseMs}`), settings);
    try {
      const { revision } = await writeObject(
        context,
        objectKey(key),
        body,
        await conditionOf(seen),
        undefined,
      );
      // Another holder must have seen it unchanged for its whole length, and not before it was sent.
      own.remember(key, proof, { revision, untilMs: sentMs + leaseMs });
      sightings.forget(key);
      return true;
    } catch (error) {
      if (isServiceError(error, "conflict")) return false;
      throw error;
    } finally {
      await body.dispose();
    }
  }

  return {
    async acquireLease(key, leaseMs) {
      const object = objectKey(key);
      checkLeaseLength(leaseMs);
      const proof = randomBytes(12).toString("base64url");
      // Most are free: only one that was not is looked at before.
      if (!sightings.has(key) && (await write(key, null, proof, leaseMs))) return proof;
      const askedMs = performance.now();
      const held = await read(object);
      if (held !== null && sightings.unchangedMs(key, held.revision, askedMs) < held.leaseMs) return null;
      return (await write(key, held?.revision ?? null, proof, leaseMs)) ? proof : null;
    },

    async renewLease(key, proof, leaseMs) {
      const object = objectKey(key);
      checkLeaseLength(leaseMs);
      const last = own.find(key, proof)?.revision;
      if (last !== undefined && (await write(key, last, proof, leaseMs))) return true;
      const held = await read(object);
      return held?.proof === proof && (await write(key, held.revision, proof, leaseMs));
    },

    // Between looking and deleting, another may take the place of a lease that has run out; so it may where a DELETE that was not
    // looked for arrives long after it was given up. Its lease is lost then, and a third may get it at the same time: leases are
    // advice, and deleting on a condition is not offered everywhere.
    async releaseLease(key, proof) {
      const object = objectKey(key);
      const untilMs = own.find(key, proof)?.untilMs ?? 0;
      own.forget(key, proof);
      // A call is given up after about twice the time limit.
      const isOurs = performance.now() + 2 * settings.timeoutMs < untilMs;
      if (isOurs || (await read(object))?.proof === proof) await removeObject(context, object);
    },
  };
}

/** When each lease was first seen at its present revision, by the monotonic clock of this process. */
interface LeaseSightings {
  /**
   * How long a lease is known to have had this revision, in milliseconds.
   * @param askedMs when it was asked for, by `performance.now()`: it may have changed since.
   */
  unchangedMs(key: string, revision: string, askedMs: number): number;
  /** Whether a lease was held when it was last asked for. */
  has(key: string): boolean;
  forget(key: string): void;
}

/** Keys that are remembered. Beyond that the least recently asked are evicted; their wait begins anew. */
const MAX_KEYS = 10_000;

export function createSightings(): LeaseSightings {
  const seen = new Map<string, { revision: string; sinceMs: number }>();
  return {
    unchangedMs(key, revision, askedMs) {
      const last = seen.get(key);
      // The map is in the order of asking.
      seen.delete(key);
      if (last?.revision === revision) {
        seen.set(key, last);
        return askedMs - last.sinceMs;
      }
      seen.set(key, { revision, sinceMs: performance.now() });
      for (const oldest of seen.keys()) {
        if (seen.size <= MAX_KEYS) break;
        seen.delete(oldest);
      }
      return 0;
    },
    has: (key) => seen.has(key),
    forget: (key) => void seen.delete(key),
  };
}

/** The leases that this process holds, by its monotonic clock. */
interface OwnLeases {
  remember(key: string, proof: string, own: OwnLease): void;
  /** `undefined` where nothing is known; the lease may be held all the same. */
  find(key: string, proof: string): OwnLease | undefined;
  forget(key: string, proof: string): void;
}

interface OwnLease {
  /** Of the object that was written last. */
  revision: string;
  /** Until when no other holder can have replaced it, by `performance.now()`. */
  untilMs: number;
}

function createOwnLeases(): OwnLeases {
  const leases = new Map<string, OwnLease>();
  const nameOf = (key: string, proof: string) => `${key} ${proof}`;
  return {
    remember(key, proof, own) {
      // The map is in the order of the last renewal, so the loop below ends at the first that is valid.
      leases.delete(nameOf(key, proof));
      leases.set(nameOf(key, proof), own);
      for (const [name, { untilMs }] of leases) {
        if (untilMs > performance.now()) break;
        leases.delete(name);
      }
    },
    find: (key, proof) => leases.get(nameOf(key, proof)),
    forget: (key, proof) => void leases.delete(nameOf(key, proof)),
  };
}
