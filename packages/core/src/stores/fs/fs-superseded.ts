import { closeSync, constants, existsSync, fchmodSync, ftruncateSync, openSync, statfsSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import type { LocalStore } from "../../contracts/blob-store.ts";
import { isServiceError } from "../../errors.ts";
import { bucketName, HOUR_MS, hoursOf, read } from "./fs-due-index.ts";
import { makeDirectories, removeIfEmpty } from "./fs-durable-directories.ts";
import type { EmptyFiles } from "./fs-empty-files.ts";
import { systemCode } from "./fs-errors.ts";
import {
  findHead,
  generationPath,
  isStub,
  lookAt,
  type Place,
  readChain,
  STUB_MODE,
} from "./fs-generations.ts";

/** Removes superseded generations: of all noted chains, or of one chain. */
export interface SupersededIndex extends Pick<LocalStore, "removeSuperseded"> {
  /** Notes that a generation of the chain is about to be superseded. */
  note(base: string): void;
  /**
   * Removes the generations of a chain that were superseded before a time, in Unix milliseconds.
   * @param won the generation that the caller has just added, if any.
   */
  trim(base: string, beforeMs: number, won?: number): Promise<Trimmed>;
  /**
   * Whether the disk is nearly full, so that superseded generations are deleted at once. `false` if that is
   * unknown.
   */
  isShortOfRoom(): boolean;
}

export interface Trimmed {
  /** Number of deleted files. */
  removed: number;
  /** When to check again, in Unix milliseconds; `null` if no superseded generation remains. */
  nextMs: number | null;
}

/** A disk is nearly full if less than 1/50 of its bytes or inodes is free. */
const LITTLE = 50;
/** The longest name that every file system supports, in bytes. */
const MAX_NAME_BYTES = 255;
const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/**
 * An index of chains with superseded generations: empty files `superseded/<hour>/<path with @ for />`, by the
 * hour in which one was superseded. On a nearly full disk there are none, and a superseded generation is
 * deleted at once. The files share inodes and are not flushed. If a power cut loses a note, the generation
 * stays until the chain changes again or is deleted. The same applies to a path that is too long for a name.
 */
export function createSupersededIndex(root: string, blobs: string, empties: EmptyFiles): SupersededIndex {
  const directory = join(root, "superseded");

  function noteAt(base: string, hour: number): void {
    const name = base.slice(blobs.length + 1).replaceAll("/", "@");
    if (name.length > MAX_NAME_BYTES) return;
    const bucket = join(directory, bucketName(hour));
    try {
      createIn(bucket, name);
    } catch (error) {
      // The note exists; or the disk is full, which must not prevent the replacement of a record.
      if (systemCode(error) === undefined) throw error;
    }
  }

  function createIn(bucket: string, name: string): void {
    try {
      empties.create(join(bucket, name));
    } catch (error) {
      // The first note of an hour; or another process deleted the directory of a past hour. Not created if
      // the volume is gone.
      if (systemCode(error) !== "ENOENT" || !existsSync(blobs)) throw error;
      makeDirectories(bucket);
      empties.create(join(bucket, name));
    }
  }

  /** The chain that a name encodes; `null` for any other name. */
  function baseOf(name: string): string | null {
    const segments = name.split("@");
    return segments.length > 1 && segments.every((segment) => SEGMENT.test(segment))
      ? `${blobs}/${segments.join("/")}`
      : null;
  }

  async function trim(base: string, beforeMs: number, won?: number): Promise<Trimmed> {
    let removed = 0;
    const head = headOf(base);
    const chain = head === null ? null : readChain(base);
    if (head === null || chain?.life !== head.life) return { removed, nextMs: null };
    const ascending = chain.generations.filter((generation) => generation <= head.generation).reverse();
    for (const [index, generation] of ascending.slice(0, -1).entries()) {
      const next = ascending[index + 1] ?? head.generation;
      const successor = lookAt(base, { life: head.life, generation: next });
      // Another process is trimming the same chain, or has deleted it.
      if (successor === undefined) break;
      // A link changes its file's ctime: that is when the successor got its name, or later in a copy.
      if (successor.ctimeMs >= beforeMs) return { removed, nextMs: successor.ctimeMs };
      // Its writer may still have to check the generation before, because it does not know yet that it
      // succeeded.
      if (successor.nlink > 1 && next !== won) return { removed, nextMs: Date.now() };
      const place = { life: head.life, generation };
      if (await remove(base, place, chain.anchor === generation)) removed++;
    }
    return { removed, nextMs: null };
  }

  /**
   * Deletes a superseded generation. The one that names the life of a chain loses its bytes and keeps its
   * name.
   */
  async function remove(base: string, place: Place, isAnchor: boolean): Promise<boolean> {
    if (isAnchor) return makeStub(base, place);
    try {
      await unlink(generationPath(base, place));
      return true;
    } catch (error) {
      if (systemCode(error) === "ENOENT") return false;
      throw error;
    }
  }

  async function removeOf(hour: number, name: string, beforeMs: number): Promise<number> {
    const base = baseOf(name);
    if (base === null) return 0;
    const { removed, nextMs } = await trim(base, beforeMs);
    const nextHour = nextMs === null ? null : Math.floor(nextMs / HOUR_MS);
    if (nextHour === hour) return removed;
    if (nextHour !== null) noteAt(base, nextHour);
    await unlink(join(directory, bucketName(hour), name)).catch((error: unknown) => {
      if (systemCode(error) !== "ENOENT") throw error;
    });
    return removed;
  }

  return {
    note: (base) => noteAt(base, Math.floor(Date.now() / HOUR_MS)),
    trim,
    isShortOfRoom() {
      try {
        const { bavail, blocks, ffree, files } = statfsSync(blobs);
        return bavail * LITTLE < blocks || ffree * LITTLE < files;
      } catch (error) {
        if (systemCode(error) === undefined) throw error;
        return false;
      }
    },
    async removeSuperseded(beforeMs, mayGoOn) {
      let removed = 0;
      for (const hour of await hoursOf(directory)) {
        if ((hour + 1) * HOUR_MS > beforeMs) break;
        const bucket = join(directory, bucketName(hour));
        for (const { name } of await read(bucket)) {
          if (!mayGoOn()) return removed;
          removed += await removeOf(hour, name, beforeMs);
        }
        await removeIfEmpty(bucket);
      }
      return removed;
    },
  };
}

/** A damaged chain has no superseded generations: all of it may be needed for a repair. */
function headOf(base: string): Place | null {
  try {
    return findHead(base);
  } catch (error) {
    if (isServiceError(error, "damaged")) return null;
    throw error;
  }
}

/** Never creates the name: the chain may have been deleted meanwhile. */
function makeStub(base: string, place: Place): boolean {
  const stats = lookAt(base, place);
  if (stats === undefined || isStub(stats)) return false;
  let descriptor: number;
  try {
    descriptor = openSync(generationPath(base, place), constants.O_WRONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
  try {
    ftruncateSync(descriptor, 0);
    fchmodSync(descriptor, STUB_MODE);
  } finally {
    closeSync(descriptor);
  }
  return true;
}
