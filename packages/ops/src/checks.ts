import {
  bytesKeyOf,
  encodeRecord,
  type ImageRecord,
  idOfRecord,
  keyOf,
  readEntry,
  roleOf,
  type StoredImages,
} from "@outrigger/core/storage";
import { digestOf, isSame, readBlob, readSmall, type SmallBlob } from "./blobs.ts";
import { bringBytes, storeRevived } from "./bring.ts";
import type { Job } from "./job.ts";
import type { VerifyFinding } from "./verify-options.ts";

/** A problem of a key, and what ends it. */
export interface Trouble extends Pick<VerifyFinding, "id" | "what" | "detail"> {
  /** Repairs it without a loss; `null`: that is impossible. */
  repair(): Promise<VerifyFinding["repair"]>;
  /** Ends or deletes what cannot be repaired. Absent: nothing is to be removed. */
  remove?(): Promise<unknown>;
}

/** Most reads of a blob that changes between reads. */
const MAX_READS = 10;

/** Finds problems of single keys of the target, and repairs them from the source of the job, if that is a backup. */
export class Checks {
  readonly #job: Job;
  readonly #images: StoredImages;
  /** `null`: there is no backup. */
  readonly #backup: StoredImages | null;
  readonly #onIntact: () => unknown;

  /** @param onIntact Called for each living image that has its bytes. */
  constructor(job: Job, backup: StoredImages | null, onIntact: () => unknown) {
    this.#onIntact = onIntact;
    this.#job = job;
    this.#images = job.to;
    this.#backup = backup;
  }

  /** The problem of a key; `null`: none, or the key is gone. */
  async check(key: string): Promise<Trouble | null> {
    const role = roleOf(key);
    if (role === "originals" || role === "renditions") return this.#orphan(role, key);
    const id = idOfRecord(key);
    return this.#twice(key, async (blob) =>
      id === null ? this.#value(key, blob) : this.#image(key, id, blob),
    );
  }

  /** A problem of a record counts only if two reads at the same revision find it. */
  async #twice(key: string, judge: (blob: SmallBlob) => Promise<Trouble | null>): Promise<Trouble | null> {
    let seen: string | null = null;
    for (let reads = 1; ; reads++) {
      const blob = await readBlob(this.#images.stores.records, key);
      const trouble = blob === null ? null : await judge(blob);
      if (blob === null || trouble === null || blob.revision === seen || reads === MAX_READS) return trouble;
      seen = blob.revision;
    }
  }

  /** Why an image must have no bytes: it has no record, or it has ended. `null`: it may have some. */
  async whyEmpty(id: string): Promise<"unknown" | "ended" | null> {
    const key = keyOf.record(id);
    const bytes = await readSmall(this.#images.stores.records, key);
    if (bytes === null) return "unknown";
    const { record } = readEntry(key, bytes);
    return record !== null && this.#images.isEmptied(record) ? "ended" : null;
  }

  /** Bytes without a record, or of an image that has ended. */
  async #orphan(role: "originals" | "renditions", key: string): Promise<Trouble | null> {
    const store = this.#images.stores[role];
    const [id = ""] = key.split("/");
    const why = await this.whyEmpty(id);
    if (why === null) return null;
    const info = await store.stat(key);
    if (info === null) return null;
    const remove = () => store.delete(key);
    if (why === "ended") {
      const detail = `${key} has ${info.size} bytes, and the image has ended`;
      return { id, what: "ended-bytes", detail, repair: () => remove().then(() => "removed") };
    }
    if (role === "renditions") {
      const detail = `${key} has no image`;
      return { id, what: "orphaned-rendition", detail, repair: () => remove().then(() => "removed") };
    }
    const detail = `${key} has ${info.size} bytes, and there is no record`;
    return { id, what: "orphaned-bytes", detail, repair: () => this.#restoreOrphan(id, key), remove };
  }

  /** A claim, the reports of an image, or the usage of an owner. What a newer release wrote cannot be checked. */
  #value(key: string, { bytes }: SmallBlob): Trouble | null {
    const { kind, problem, detail } = readEntry(key, bytes);
    if (problem !== "damaged") return null;
    const images = this.#images;
    if (kind === "usage") {
      const repair = () => images.recount(key).then(() => "counted" as const);
      return { id: null, what: "damaged-usage", detail, repair };
    }
    if (kind === "reports") {
      const id = key.slice(key.indexOf("/") + 1);
      const remove = () => images.stores.records.delete(key);
      return { id, what: "damaged-reports", detail, repair: async () => null, remove };
    }
    // An unreadable claim protects nothing.
    const repair = () => images.stores.records.delete(key).then(() => "removed" as const);
    return { id: null, what: "damaged-claim", detail, repair };
  }

  async #image(key: string, id: string, blob: SmallBlob): Promise<Trouble | null> {
    const { record, problem, detail: fault } = readEntry(key, blob.bytes);
    if (problem === "newer") return { id, what: "newer", detail: fault, repair: async () => null };
    const damage = (what: VerifyFinding["what"], detail: string): Trouble => ({
      id,
      what,
      detail,
      repair: () => this.#restoreImage(id, record, blob),
      remove: () => this.#images.end(id, blob.revision, record !== null),
    });
    if (record === null) return damage("damaged-record", fault);
    if (record.gone?.lost === true && (await this.#revivable(record)) !== null) {
      return damage("missing-original", "a repair ended it for want of bytes");
    }
    const bytesKey = this.#images.isOver(record) ? null : bytesKeyOf(record);
    // The substitute for a damaged record describes no bytes. Only a withheld image has one.
    if (bytesKey === null || record.damaged === true) return null;
    const { originals } = this.#images.stores;
    const { size, sha256, owner } = record;
    const name = record.processing === null ? "original" : "upload";
    const found = (await originals.stat(bytesKey))?.size;
    if (found !== undefined && found !== size) {
      return damage("wrong-size", `the ${name} has ${found} bytes, expected ${size}`);
    }
    const digest = found === undefined ? null : await digestOf(originals, bytesKey, this.#job);
    if (digest === null) return damage("missing-original", `the ${name} is missing, expected ${size} bytes`);
    if (digest.sha256 !== sha256) {
      return damage("wrong-digest", `the ${name} has the SHA-256 ${digest.sha256}, expected ${sha256}`);
    }
    if (owner === null || !(await this.#images.lacksEntry(record))) {
      this.#onIntact();
      return null;
    }
    const repair = () => this.#images.addEntry(record).then(() => "restored" as const);
    return { id, what: "missing-entry", detail: "the index of its owner's images lacks it", repair };
  }

  /** Restores an image if the backup has an intact copy of its current state. @param record `null`: it cannot be read. */
  async #restoreImage(
    id: string,
    record: ImageRecord | null,
    { bytes, revision }: SmallBlob,
  ): Promise<VerifyFinding["repair"]> {
    if (record === null) {
      const copy = await this.#livingCopy(id);
      const substitute = copy === null ? null : await this.#images.substitute(bytes, copy);
      return substitute === null ? null : this.#restoreRecord(substitute, revision);
    }
    if (record.gone !== null) {
      const revived = await this.#revivable(record);
      if (revived === null || !(await this.#bring(revived))) return "failed";
      await storeRevived(this.#job, revived, revision);
      return "restored";
    }
    if (!(await this.#bring(record))) return null;
    await this.#images.removeUnlessAlive(id);
    return "restored";
  }

  /** Restores the record of bytes that have none, if they are those of the backup. */
  async #restoreOrphan(id: string, key: string): Promise<VerifyFinding["repair"]> {
    const copy = await this.#livingCopy(id);
    const isIts = copy !== null && bytesKeyOf(copy) === key && (await this.#isWhole(copy));
    return isIts ? this.#restoreRecord(copy, null) : null;
  }

  /** The record that an image gets which a repair ended for want of bytes, if the backup has these; else `null`. */
  async #revivable(ended: ImageRecord): Promise<ImageRecord | null> {
    const copy = await this.#livingCopy(ended.id);
    const record = copy === null ? null : this.#images.revived(ended, copy);
    const key = record === null ? null : bytesKeyOf(record);
    if (record === null || key === null) return null;
    return (await this.#backup?.stores.originals.stat(key))?.size === record.size ? record : null;
  }

  /** The record of a living image in the backup; `null`: there is none. */
  async #livingCopy(id: string): Promise<ImageRecord | null> {
    const key = keyOf.record(id);
    const bytes = this.#backup === null ? null : await readSmall(this.#backup.stores.records, key);
    const record = bytes === null ? null : readEntry(key, bytes).record;
    return record === null || record.damaged === true || this.#images.isOver(record) ? null : record;
  }

  /** @param revision Of the stored record; `null`: there is none. */
  async #restoreRecord(record: ImageRecord, revision: string | null): Promise<VerifyFinding["repair"]> {
    if (!(await this.#isWhole(record)) && !(await this.#bring(record))) return null;
    const { records } = this.#images.stores;
    await this.#images.schedule(record);
    await this.#images.addEntry(record);
    try {
      await records.put(keyOf.record(record.id), encodeRecord(record), { ifRevision: revision });
    } catch (error) {
      await this.#images.removeUnlessAlive(record.id);
      throw error;
    }
    return "restored";
  }

  /** Whether the bytes of a record are stored, with its size and digest. */
  async #isWhole(record: ImageRecord): Promise<boolean> {
    const key = bytesKeyOf(record);
    return key !== null && isSame(record, await digestOf(this.#images.stores.originals, key, this.#job));
  }

  /** Copies the bytes of a record, if the backup has them intact. Removes renditions made from damaged bytes. */
  async #bring(record: ImageRecord): Promise<boolean> {
    const key = bytesKeyOf(record);
    if (this.#backup === null || key === null) return false;
    // Damaged bytes are not replaced by other damaged ones.
    if (!isSame(record, await digestOf(this.#backup.stores.originals, key, this.#job))) return false;
    const outcome = await bringBytes(this.#job, record, true);
    if (outcome === "copied") await this.#images.removeDerived(record.id);
    return outcome === "copied" || outcome === "unchanged";
  }
}
