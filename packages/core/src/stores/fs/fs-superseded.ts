import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  statfsSync,
} from "node:fs";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import type { LocalStore } from "../../contracts/blob-store.ts";
import { isServiceError } from "../../errors.ts";
import { bucketName, HOUR_MS, hoursOf, read } from "./fs-due-index.ts";
import { removeIfEmpty } from "./fs-durable-directories.ts";
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

/** Removal of superseded generations, of chains that are noted and of one chain. */
export interface SupersededIndex extends Pick<LocalStore, "removeSuperseded"> {
  /** Notes that a generation of the chain is about to be superseded. */
  note(base: string): void;
  /**
   * Removes what a chain's files tell was superseded before a time, in Unix milliseconds.
   * @param won the generation by which the caller is known to have won, if any.
   */
  trim(base: string, beforeMs: number, won?: number): Promise<Trimmed>;
  /** Whether the disk has so little room that superseded generations go at once. `false` where that cannot be told. */
  isShortOfRoom(): boolean;
}

export interface Trimmed {
  /** Files that were removed. */
  removed: number;
  /** From when on it is worth another look, in Unix milliseconds; `null` where nothing remains. */
  nextMs: number | null;
}

/** Less than one part in so many of a disk's bytes, or of its inodes, is little. */
const LITTLE = 50;
/** The longest name that every file system takes, in bytes. */
const MAX_NAME_BYTES = 255;
const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/**
 * An index of chains with superseded generations: empty files `superseded/<hour>/<path with @ for />`, by the hour in which
 * one was superseded. On a disk that is nearly full there are none, and a superseded generation goes at once. They share inodes and are not flushed: a note that a power cut takes leaves a generation until the
 * chain's next change or its deletion. So does a path that is too long for a name.
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
      // Noted already; or the disk is full, which must not keep a record from being replaced.
      if (systemCode(error) === undefined) throw error;
    }
  }

  function createIn(bucket: string, name: string): void {
    try {
      empties.create(join(bucket, name));
    } catch (error) {
      // The first of an hour; or another process removed the directory of an hour that is over. Not on a volume that is gone.
      if (systemCode(error) !== "ENOENT" || !existsSync(blobs)) throw error;
      mkdirSync(bucket, { recursive: true, mode: 0o700 });
      empties.create(join(bucket, name));
    }
  }

  /** The chain that a name stands for; `null` for any other name. */
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
      // Another process is at the same chain, or has deleted it.
      if (successor === undefined) break;
      // A link changes its file: this is when the successor got its name, or later in a copy.
      if (successor.ctimeMs >= beforeMs) return { removed, nextMs: successor.ctimeMs };
      // Its writer may not have seen yet that it has won, and looks for the generation before.
      if (successor.nlink > 1 && next !== won) return { removed, nextMs: Date.now() };
      const place = { life: head.life, generation };
      if (await remove(base, place, chain.anchor === generation)) removed++;
    }
    return { removed, nextMs: null };
  }

  /** Removes a superseded generation. The one that tells the life of a chain gives up its bytes, and keeps its name. */
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

/** Nothing of a damaged chain is superseded: all of it may be needed to repair it. */
function headOf(base: string): Place | null {
  try {
    return findHead(base);
  } catch (error) {
    if (isServiceError(error, "damaged")) return null;
    throw error;
  }
}

/** Never makes the name: the chain may have been deleted meanwhile. */
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
