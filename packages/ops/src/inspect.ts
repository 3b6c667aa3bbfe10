import { bytesKeyOf, type ImageRecord, keyOf, readEntry } from "@outrigger/core/storage";
import { digestOf, readBlob, type SmallBlob } from "./blobs.ts";
import type { Job } from "./job.ts";
import type { Repair } from "./repair.ts";
import type { VerifyProblem } from "./verify-options.ts";

/** Most reads of a blob that changes between reads. */
const MAX_READS = 10;

/** A problem of an image. */
export interface ImageTrouble {
  what: VerifyProblem;
  detail: string;
  /** `null`: the record cannot be read. */
  record: ImageRecord | null;
}

/** A problem of a blob, seen twice at one revision. */
export interface Suspicion<T> {
  trouble: T;
  blob: SmallBlob;
}

/** Finds problems of single keys of the target. Changes nothing. */
export class Inspector {
  readonly #job: Job;
  /** Finds ended images that a backup can revive; `null`: they stay ended. */
  readonly #repair: Repair | null;

  constructor(job: Job, repair: Repair | null) {
    this.#job = job;
    this.#repair = repair;
  }

  /** The problem of an image, by its record and its bytes. */
  image(key: string): Promise<Suspicion<ImageTrouble> | null> {
    return this.#suspect(key, (bytes) => this.#imageTrouble(key, bytes));
  }

  async #imageTrouble(key: string, bytes: Buffer): Promise<ImageTrouble | null> {
    const { record, problem, detail } = readEntry(key, bytes);
    if (record === null) return { what: problem === "newer" ? "newer" : "damaged-record", detail, record };
    const missing = (text: string): ImageTrouble => ({ what: "missing-original", detail: text, record });
    if (((await this.#repair?.revivable(record)) ?? null) !== null) {
      return missing("a repair ended it for want of bytes");
    }
    const bytesKey = this.#job.to.isOver(record) ? null : bytesKeyOf(record);
    // The substitute for a damaged record describes no bytes. Only a withheld image has one.
    if (bytesKey === null || record.damaged === true) return null;
    const { originals } = this.#job.to.stores;
    const { size, sha256 } = record;
    const name = record.processing === null ? "original" : "upload";
    const lost = `the ${name} is missing, expected ${size} bytes`;
    const info = await originals.stat(bytesKey);
    if (info === null) return missing(lost);
    if (info.size !== size) {
      return { what: "wrong-size", detail: `the ${name} has ${info.size} bytes, expected ${size}`, record };
    }
    const digest = await digestOf(originals, bytesKey, this.#job);
    if (digest === null) return missing(lost);
    if (digest.sha256 === sha256) {
      if (!(await this.#job.to.lacksEntry(record))) return null;
      return { what: "missing-entry", detail: "the index of its owner's images lacks it", record };
    }
    const other = `the ${name} has the SHA-256 ${digest.sha256}, expected ${sha256}`;
    return { what: "wrong-digest", detail: other, record };
  }

  /** Why the bytes of a claim or of a usage cannot be read; `null`: they can. */
  async whyDamaged(key: string): Promise<string | null> {
    const suspicion = await this.#suspect(key, async (bytes) => {
      const { problem, detail } = readEntry(key, bytes);
      // What a newer release wrote cannot be checked.
      return problem === "damaged" ? detail : null;
    });
    return suspicion?.trouble ?? null;
  }

  /** The keys whose images have no record. */
  async withoutRecord(keys: readonly string[]): Promise<string[]> {
    const unknown = new Set<string>();
    await this.#job.each(listed(new Set(keys.map(imageOf))), async (id) => {
      const info = await this.#job.retry(() => this.#job.to.stores.records.stat(keyOf.record(id)));
      if (info === null) unknown.add(id);
    });
    return keys.filter((key) => unknown.has(imageOf(key)));
  }

  /**
   * Checks a blob of the records' store. A problem counts only if two reads at the same revision find it. `null`: there is no
   * problem, or the blob is gone.
   */
  async #suspect<T>(key: string, judge: (bytes: Buffer) => Promise<T | null>): Promise<Suspicion<T> | null> {
    let seen: string | null = null;
    for (let reads = 1; ; reads++) {
      const blob = await readBlob(this.#job.to.stores.records, key);
      const trouble = blob === null ? null : await judge(blob.bytes);
      if (blob === null || trouble === null) return null;
      if (blob.revision === seen || reads === MAX_READS) return { trouble, blob };
      seen = blob.revision;
    }
  }
}

export async function* listed(keys: Iterable<string>): AsyncGenerator<string> {
  yield* keys;
}

/** The ID of the image that a key belongs to. */
export function imageOf(key: string): string {
  return key.slice(0, key.indexOf("/"));
}
