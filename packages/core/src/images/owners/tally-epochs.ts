import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { readAll } from "../../stores/read-all.ts";
import { decodeTally, EMPTY_TALLY, encodeTally, type Tally } from "./tally.ts";

/*
 * A tally is one blob that every change replaces by compare-and-set. The directory store keeps the files of replaced
 * blobs for hours, or until the key is deleted. So after a number of changes the tally moves to another key: the next
 * epoch.
 *
 * The last change of an epoch seals it. The next change reads the sealed tally and creates the blob of the next
 * epoch, which includes the change. Of any number of creators, exactly one succeeds. The highest epoch is the current
 * one. The sealed epoch before it stays, so that a concurrent listing has at least one of the two. Older epochs are
 * deleted, lowest first.
 *
 * A blob of a known revision can only be replaced while it exists and is not sealed, so a writer that was suspended
 * gets a conflict. Only a writer that creates an epoch, or found one by listing, may be wrong: a deleted epoch can be
 * created again. So that writer lists again after its write. If there is a higher epoch, it treats the write as not
 * done. The write may have counted nevertheless; the notes in the tally make a repeated operation idempotent.
 */

/** A tally at one revision. */
export interface HeldTally {
  readonly tally: Tally;
  readonly epoch: number;
  /** `null`: no blob exists yet. */
  readonly revision: string | null;
  /** Whether the epoch is known to be the current one at this revision. */
  readonly isProven: boolean;
}

export interface TallyEpochs {
  /**
   * Reads the current tally. Rejects with `damaged` if it is unreadable. @param prefix Prefix of the owner's keys,
   * with its final `/`.
   */
  read(prefix: string): Promise<HeldTally>;
  /**
   * Replaces `held`, and seals its epoch if that is long enough. Rejects with `conflict` if `held` is not the current
   * state.
   */
  write(prefix: string, held: HeldTally, tally: Tally): Promise<HeldTally>;
  /**
   * Replaces an unreadable tally by the result of `count`. Does nothing if the tally is readable. Of any number of
   * processes, one replaces it.
   */
  replaceDamaged(prefix: string, count: () => Promise<Tally>): Promise<void>;
}

const NOTHING: HeldTally = { tally: EMPTY_TALLY, epoch: 0, revision: null, isProven: false };
const MAX_LOOKS = 100;

/** @param epochChanges Number of changes after which an epoch is sealed. */
export function createTallyEpochs(store: BlobStore, epochChanges: number): TallyEpochs {
  async function load(prefix: string, epoch: number): Promise<HeldTally | null> {
    const blob = await store.get(`${prefix}${epoch}`);
    if (blob === null) return null;
    const tally = decodeTally(await readAll(blob.body), `${prefix}${epoch}`);
    return { tally, epoch, revision: blob.revision, isProven: false };
  }

  async function listEpochs(prefix: string): Promise<number[]> {
    const epochs: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.list(prefix, cursor === undefined ? {} : { cursor });
      for (const key of page.keys) epochs.push(Number(key.slice(prefix.length)));
      cursor = page.cursor;
    } while (cursor !== undefined);
    return epochs.sort((a, b) => a - b);
  }

  async function removeBefore(prefix: string, epochs: readonly number[], last: number): Promise<void> {
    try {
      for (const epoch of epochs) if (epoch < last) await store.delete(`${prefix}${epoch}`);
    } catch {
      // The change is in force even though the store failed here. The next epoch deletes the remaining keys.
    }
  }

  /** The blob of the highest epoch, if it cannot be read. */
  async function findDamaged(prefix: string): Promise<{ key: string; revision: string } | null> {
    const highest = (await listEpochs(prefix)).at(-1);
    if (highest === undefined) return null;
    const key = `${prefix}${highest}`;
    const blob = await store.get(key);
    if (blob === null) return null;
    const bytes = await readAll(blob.body);
    try {
      decodeTally(bytes, key);
      return null;
    } catch (error) {
      if (!isServiceError(error, "damaged")) throw error;
      return { key, revision: blob.revision };
    }
  }

  return {
    async read(prefix) {
      for (let look = 0; look < MAX_LOOKS; look++) {
        const highest = (await listEpochs(prefix)).at(-1);
        if (highest === undefined) return NOTHING;
        const held = await load(prefix, highest);
        if (held !== null) return held;
        // Deleted after the listing: other processes have moved to a later epoch.
      }
      throw new ServiceError(
        "store_unavailable",
        `The store lists keys below ${prefix} that it does not have`,
      );
    },

    async write(prefix, held, tally) {
      const isFirst = held.tally.isSealed;
      const epoch = isFirst ? held.epoch + 1 : held.epoch;
      const written = { ...tally, isSealed: tally.turn % epochChanges === 0 };
      const ifRevision = isFirst ? null : held.revision;
      const { revision } = await store.put(`${prefix}${epoch}`, encodeTally(written), { ifRevision });
      if (isFirst || !held.isProven) {
        const epochs = await listEpochs(prefix);
        const highest = epochs.at(-1) ?? epoch;
        await removeBefore(prefix, epochs, highest - 1);
        if (highest > epoch) throw new ServiceError("conflict", "Another epoch has begun");
      }
      return { tally: written, epoch, revision, isProven: true };
    },

    async replaceDamaged(prefix, count) {
      const damaged = await findDamaged(prefix);
      if (damaged === null) return;
      // Sealed, so that the next change creates another epoch. A process that holds the old tally in memory then
      // competes as usual, whether it would replace this blob or create that epoch.
      const bytes = encodeTally({ ...(await count()), isSealed: true });
      try {
        await store.put(damaged.key, bytes, { ifRevision: damaged.revision });
      } catch (error) {
        // Another process replaced it first.
        if (!isServiceError(error, "conflict")) throw error;
      }
    },
  };
}
