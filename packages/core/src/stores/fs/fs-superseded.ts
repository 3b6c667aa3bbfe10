import { existsSync, statfsSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import type { LocalStore } from "../../contracts/blob-store.ts";
import { isServiceError } from "../../errors.ts";
import { bucketName, HOUR_MS, hoursOf, read } from "./fs-due-index.ts";
import { type MarkerFiles, makeDirectories, removeIfEmpty, systemCode } from "./fs-files.ts";
import { findHead, generationPath, readChain, statVersion, type Version } from "./fs-generations.ts";

interface Trimmed {
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
 * An index of chains with superseded generations: markers `superseded/<hour>/<path with @ for />`, by the
 * hour in which one was superseded. On a nearly full disk there are none, and a superseded generation is
 * deleted at once. The markers are not flushed. If a power cut loses a note, the generation
 * stays until the chain changes again or is deleted. The same applies to a path that is too long for a name.
 */
export class SupersededIndex {
  readonly #directory: string;
  readonly #blobs: string;
  readonly #markers: MarkerFiles;

  constructor(root: string, blobs: string, markers: MarkerFiles) {
    this.#directory = join(root, "superseded");
    this.#blobs = blobs;
    this.#markers = markers;
  }

  /** Notes that a generation of the chain is about to be superseded. */
  note(base: string, hour = Math.floor(Date.now() / HOUR_MS)): void {
    const name = base.slice(this.#blobs.length + 1).replaceAll("/", "@");
    if (name.length > MAX_NAME_BYTES) return;
    try {
      this.#createIn(join(this.#directory, bucketName(hour)), name);
    } catch (error) {
      // The note exists; or the disk is full, which must not prevent the replacement of a record.
      if (systemCode(error) === undefined) throw error;
    }
  }

  /** As {@link LocalStore.removeSuperseded}, for all noted chains. */
  async removeSuperseded(beforeMs: number, mayGoOn: () => boolean): Promise<number> {
    let removed = 0;
    for (const hour of await hoursOf(this.#directory)) {
      if ((hour + 1) * HOUR_MS > beforeMs) break;
      const bucket = join(this.#directory, bucketName(hour));
      for (const { name } of await read(bucket)) {
        if (!mayGoOn()) return removed;
        removed += await this.#removeOf(hour, name, beforeMs);
      }
      await removeIfEmpty(bucket);
    }
    return removed;
  }

  /**
   * Removes the generations of a chain that were superseded before a time, in Unix milliseconds.
   * @param won the generation that the caller has just added, if any.
   */
  async trim(base: string, beforeMs: number, won?: number): Promise<Trimmed> {
    let removed = 0;
    const head = headOf(base);
    const chain = head === null ? null : readChain(base);
    if (head === null || chain?.chainId !== head.chainId) return { removed, nextMs: null };
    const { chainId } = head;
    const ascending = chain.generations.filter((generation) => generation <= head.generation).reverse();
    for (const [index, generation] of ascending.slice(0, -1).entries()) {
      const next = ascending[index + 1] ?? head.generation;
      const successor = statVersion(base, { chainId, generation: next });
      // Another process is trimming the same chain, or has deleted it.
      if (successor === undefined) break;
      // A link changes its file's ctime: that is when the successor got its name, or later in a copy.
      if (successor.ctimeMs >= beforeMs) return { removed, nextMs: successor.ctimeMs };
      // Its writer may still have to check the generation before, because it does not know yet that it
      // succeeded.
      if (successor.nlink > 1 && next !== won) return { removed, nextMs: Date.now() };
      if (await unlinkIfThere(generationPath(base, { chainId, generation }))) removed++;
    }
    return { removed, nextMs: null };
  }

  /** Whether the disk is nearly full, so that superseded generations are deleted at once. `false` if that is unknown. */
  isShortOfRoom(): boolean {
    try {
      const { bavail, blocks, ffree, files } = statfsSync(this.#blobs);
      return bavail * LITTLE < blocks || ffree * LITTLE < files;
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      return false;
    }
  }

  #createIn(bucket: string, name: string): void {
    try {
      this.#markers.create(join(bucket, name));
    } catch (error) {
      // The first note of an hour; or another process deleted the directory of a past hour. Not created if
      // the volume is gone.
      if (systemCode(error) !== "ENOENT" || !existsSync(this.#blobs)) throw error;
      makeDirectories(bucket);
      this.#markers.create(join(bucket, name));
    }
  }

  async #removeOf(hour: number, name: string, beforeMs: number): Promise<number> {
    const segments = name.split("@");
    if (segments.length < 2 || !segments.every((segment) => SEGMENT.test(segment))) return 0;
    const base = `${this.#blobs}/${segments.join("/")}`;
    const { removed, nextMs } = await this.trim(base, beforeMs);
    const nextHour = nextMs === null ? null : Math.floor(nextMs / HOUR_MS);
    if (nextHour === hour) return removed;
    if (nextHour !== null) this.note(base, nextHour);
    await unlinkIfThere(join(this.#directory, bucketName(hour), name));
    return removed;
  }
}

/** A damaged chain has no superseded generations: all of it may be needed for a repair. */
function headOf(base: string): Version | null {
  try {
    return findHead(base);
  } catch (error) {
    if (isServiceError(error, "damaged")) return null;
    throw error;
  }
}

/** @returns whether there was a file. */
async function unlinkIfThere(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
}
