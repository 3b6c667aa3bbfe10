import {
  bytesKeyOf,
  encodeRecord,
  type ImageRecord,
  keyOf,
  readEntry,
  type StoredImages,
} from "@outrigger/core/storage";
import { digestOf, isSame, readSmall, type SmallBlob } from "./blobs.ts";
import { bringBytes, storeRevived } from "./bring.ts";
import type { Job } from "./job.ts";
import type { VerifyFinding } from "./verify-options.ts";

export type RepairOutcome = VerifyFinding["repair"];

/** Repairs images from a backup, which is the source of the job. */
export class Repair {
  readonly #job: Job;
  /** `null`: there is no backup. */
  readonly #backup: StoredImages | null;
  readonly #onError: (error: unknown) => void;

  constructor(job: Job, backup: StoredImages | null, onError: (error: unknown) => void) {
    this.#job = job;
    this.#backup = backup;
    this.#onError = onError;
  }

  /** Runs a repair. A failure, such as a concurrent change of the image, is reported and does not stop other repairs. */
  async run(work: () => Promise<RepairOutcome>): Promise<RepairOutcome> {
    try {
      return await work();
    } catch (error) {
      this.#onError(error);
      return "failed";
    }
  }

  /**
   * Restores an image if the backup has an intact copy of its current state; else returns `null`.
   * @param record `null`: it cannot be read.
   */
  async restoreImage(
    id: string,
    record: ImageRecord | null,
    { bytes, revision }: SmallBlob,
  ): Promise<RepairOutcome> {
    if (record === null) {
      const copy = await this.#livingCopy(id);
      const substitute = copy === null ? null : await this.#job.to.substitute(bytes, copy);
      return substitute === null ? null : this.#restoreRecord(substitute, revision);
    }
    if (record.gone !== null) {
      const revived = await this.revivable(record);
      if (revived === null || !(await this.#bring(revived))) return "failed";
      await storeRevived(this.#job, revived, revision);
      return "restored";
    }
    if (!(await this.#bring(record))) return null;
    await this.#job.to.removeUnlessAlive(id);
    return "restored";
  }

  /** Restores the record of orphaned bytes; else returns `null`. */
  async restoreOrphan(id: string, key: string): Promise<RepairOutcome> {
    const copy = await this.#livingCopy(id);
    const isIts = copy !== null && bytesKeyOf(copy) === key && (await this.#isWhole(copy));
    return isIts ? this.#restoreRecord(copy, null) : null;
  }

  /** The record that an image gets which a repair ended for want of bytes, if the backup has these; else `null`. */
  async revivable(ended: ImageRecord): Promise<ImageRecord | null> {
    const copy = ended.gone?.lost === true ? await this.#livingCopy(ended.id) : null;
    const key = copy === null ? null : bytesKeyOf(copy);
    const record = copy === null ? null : this.#job.to.revived(ended, copy);
    if (record === null || key === null) return null;
    return (await this.#backup?.stores.originals.stat(key))?.size === record.size ? record : null;
  }

  /** The record of a living image in the backup; `null`: there is none. */
  async #livingCopy(id: string): Promise<ImageRecord | null> {
    const key = keyOf.record(id);
    const bytes = this.#backup === null ? null : await readSmall(this.#backup.stores.records, key);
    const record = bytes === null ? null : readEntry(key, bytes).record;
    return record === null || record.damaged === true || this.#job.to.isOver(record) ? null : record;
  }

  /** @param revision Of the stored record; `null`: there is none. */
  async #restoreRecord(record: ImageRecord, revision: string | null): Promise<RepairOutcome> {
    const { to } = this.#job;
    if (!(await this.#isWhole(record)) && !(await this.#bring(record))) return null;
    await to.schedule(record);
    try {
      await to.stores.records.put(keyOf.record(record.id), encodeRecord(record), { ifRevision: revision });
    } catch (error) {
      await to.removeUnlessAlive(record.id);
      throw error;
    }
    return "restored";
  }

  /** Whether the bytes of a record are stored, with its size and digest. */
  async #isWhole(record: ImageRecord): Promise<boolean> {
    const key = bytesKeyOf(record);
    return key !== null && isSame(record, await digestOf(this.#job.to.stores.originals, key, this.#job));
  }

  /** Copies the bytes of a record, if the backup has them intact. Removes renditions made from damaged bytes. */
  async #bring(record: ImageRecord): Promise<boolean> {
    const key = bytesKeyOf(record);
    if (this.#backup === null || key === null) return false;
    // Damaged bytes are not replaced by other damaged ones.
    if (!isSame(record, await digestOf(this.#backup.stores.originals, key, this.#job))) return false;
    const outcome = await bringBytes(this.#job, record, true);
    if (outcome === "copied") await this.#job.to.removeDerived(record.id);
    return outcome === "copied" || outcome === "unchanged";
  }
}
