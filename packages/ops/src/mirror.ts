import type { StoreRole } from "@outrigger/core";
import { ServiceError } from "@outrigger/core";
import { bytesKeyOf, type ImageRecord, idOfRecord, keyOf, readEntry } from "@outrigger/core/storage";
import { type Copied, copyBlob, type Digest, isSame, putSmall, readSmall } from "./blobs.ts";
import { fromSource, Job, type JobSettings, troublesOf } from "./job.ts";
import type { MirrorReport } from "./options.ts";
import { countKeys, keysOfRole } from "./walk.ts";

/** Due time of an image of a newer release, in Unix milliseconds: only its record states the real time. */
const AT_ONCE = 0;
/** Order of removal: records before the bytes that they name. */
const REMOVAL_ORDER: readonly StoreRole[] = ["records", "renditions", "originals"];

/** The result of one pass over the source, in numbers of keys. */
export interface Pass {
  images: number;
  copied: number;
  unchanged: number;
}

export interface MirrorSettings extends JobSettings {
  isBackup: boolean;
  /** Compares existing blobs by their bytes instead of their sizes. */
  verify: boolean;
  withRenditions: boolean;
}

/**
 * Makes the target equal to the source. A migration copies damage, too. A backup leaves renditions out, and keeps the good copies
 * of keys that are damaged at the source.
 */
export class Mirror extends Job {
  readonly #isBackup: boolean;
  readonly #verify: boolean;
  /** Roles in the order of copying: bytes before the records that name them. */
  readonly roles: readonly StoreRole[];
  /** Whether the pass compares existing blobs by their bytes. */
  #comparesBytes = false;

  constructor(options: MirrorSettings) {
    super(options);
    this.#isBackup = options.isBackup;
    this.#verify = options.verify;
    this.roles = options.withRenditions ? ["originals", "renditions", "records"] : ["originals", "records"];
  }

  /** Counts the keys to process. */
  async countSource(): Promise<void> {
    const counts = await countKeys(this.from.stores, this);
    this.progress.totalKeys = this.roles.reduce((sum, role) => sum + counts[role], 0);
    this.reportProgress();
  }

  /**
   * Copies the keys that the target lacks, role by role.
   * @param isFirst Whether the pass counts in the progress.
   */
  async copyAll(isFirst: boolean): Promise<Pass> {
    const pass: Pass = { images: 0, copied: 0, unchanged: 0 };
    this.#comparesBytes = isFirst && this.#verify;
    for (const role of this.roles) {
      if (isFirst) this.progress.phase = role;
      await this.each(keysOfRole(this.from.stores, role, this), async (key) => {
        const copied = await this.tryKey(key, () => this.#copyKey(role, key));
        if (copied !== "failed" && (copied.outcome === "copied" || copied.outcome === "unchanged")) {
          pass[copied.outcome]++;
          if (idOfRecord(key) !== null) pass.images++;
        }
        if (!isFirst) return;
        this.progress.keys++;
        this.reportProgress();
      });
    }
    this.#comparesBytes = false;
    return pass;
  }

  /** Removes keys that the source lacks from the target, so that no deleted image survives there. @returns the number of keys */
  async removeExtra(): Promise<number> {
    const { from, to } = this;
    let removed = 0;
    for (const role of REMOVAL_ORDER) {
      await this.each(keysOfRole(to.stores, role, this), async (key) => {
        const wasThere = await this.tryKey(key, async () => {
          if ((await fromSource(() => from.stores[role].stat(key))) !== null) return false;
          if (this.#isBackup && role === "originals" && (await this.#isStillNamed(key))) return false;
          return to.stores[role].delete(key);
        });
        if (wasThere === true) removed++;
      });
    }
    return removed;
  }

  /** The report of a run that ends. */
  report({ images, copied, unchanged }: Pass, removed: number, isComplete: boolean): MirrorReport {
    const { bytes } = this.progress;
    const [damaged, failed] = [troublesOf(this.damaged), troublesOf(this.failed)];
    return { images, copied, bytes, unchanged, removed, damaged, failed, isComplete };
  }

  async #copyKey(role: StoreRole, key: string): Promise<Copied> {
    if (role === "records") return this.copyRecord(key);
    if (role === "originals") return this.#copyOriginal(key);
    const [id = ""] = key.split("/");
    // Only the service knows how long idle images keep renditions: its sweep notes a use of the image, and sets the next due time.
    await this.to.due("renditions").add({ id, dueMs: AT_ONCE });
    return copyBlob(this, role, key, { verify: this.#comparesBytes });
  }

  /**
   * Copies a key of the records' store. Before the record of an image, it writes the due entries and copies bytes that were added
   * after the originals were copied, so the target never has a record without its bytes.
   */
  async copyRecord(key: string): Promise<Copied> {
    const bytes = await fromSource(() => readSmall(this.from.stores.records, key));
    if (bytes === null) return { outcome: "missing", digest: null };
    const { kind, id, record, claimedAt, reports, problem } = readEntry(key, bytes);
    if ((await readSmall(this.to.stores.records, key))?.equals(bytes)) {
      if (this.#isBackup && record !== null) await this.#bringBytes(key, bytes, record);
      return { outcome: "unchanged", digest: null };
    }
    if (this.#isBackup && record !== null && (await this.#isLost(key, record))) {
      return { outcome: "unchanged", digest: null };
    }
    if (problem === "damaged" && kind !== "usage") {
      this.damaged.set(
        key,
        kind === "image"
          ? "is not a valid record of an image"
          : kind === "reports"
            ? "are not valid reports of an image"
            : "is not a valid claim of an idempotency key",
      );
      if (this.#isBackup) return { outcome: "damaged", digest: null };
    }
    if (kind === "claim" && problem !== "damaged") {
      // The time in a claim of a newer release is unknown: the present is late enough.
      await this.to.scheduleClaim(key, claimedAt ?? Date.now());
    }
    if (reports !== null) await this.to.scheduleReports(key, reports);
    if (id !== null && problem === "newer") await this.#prepareNewer(id);
    if (record !== null) {
      await this.to.schedule(record);
      await this.#bringBytes(key, bytes, record);
    }
    await putSmall(this, key, bytes);
    return { outcome: "copied", digest: null };
  }

  /** It is unknown which bytes the record of a newer release names. */
  async #prepareNewer(id: string): Promise<void> {
    await this.to.due("images").add({ id, dueMs: AT_ONCE });
    for (const key of [keyOf.original(id), keyOf.upload(id)]) {
      if ((await fromSource(() => this.from.stores.originals.stat(key))) !== null)
        await this.#copyOriginal(key);
    }
  }

  /** Copies the bytes that a record names, unless the target has them. */
  async #bringBytes(key: string, bytes: Buffer, record: ImageRecord): Promise<void> {
    const bytesKey = bytesKeyOf(record);
    if (bytesKey === null || (await this.to.stores.originals.stat(bytesKey)) !== null) return;
    if ((await this.#copyOriginal(bytesKey)).outcome !== "missing") return;
    const now = await fromSource(() => readSmall(this.from.stores.records, key));
    if (now?.equals(bytes) !== true) throw changedMeanwhile("it");
    this.damaged.set(bytesKey, `is missing; its record says ${record.size} bytes`);
  }

  /** Copies an original or an upload, and compares it with its record. */
  async #copyOriginal(key: string): Promise<Copied> {
    const [id = ""] = key.split("/");
    const before = await this.#entryAtSource(id);
    await this.#scheduleBytes(key, id, before);
    const known = before ?? (this.#isBackup ? await this.#entryAtTarget(id) : null);
    const record = known?.record ?? null;
    const expected: Digest | null = record !== null && bytesKeyOf(record) === key ? record : null;
    const copied = await copyBlob(this, "originals", key, {
      expected: this.#isBackup ? expected : null,
      verify: this.#comparesBytes,
    });
    const { digest } = copied;
    if (digest === null || expected === null || isSame(expected, digest)) return copied;
    const after = await this.#entryAtSource(id);
    if (JSON.stringify(after?.record) !== JSON.stringify(before?.record))
      throw changedMeanwhile("its record");
    this.damaged.set(
      key,
      `its record says ${expected.size} bytes with the SHA-256 ${expected.sha256}, the source has ${digest.size} with ${digest.sha256}`,
    );
    return copied;
  }

  /** Adds a due entry for bytes without a record, so that the target's sweep removes them like the source's would. */
  async #scheduleBytes(key: string, id: string, entry: KnownEntry | null): Promise<void> {
    if (entry === null) await this.to.scheduleOrphan(id);
    else if (key === keyOf.upload(id)) {
      await this.to.due("jobs").add({ id, dueMs: entry.record?.createdAt ?? AT_ONCE });
    }
  }

  async #entryAtSource(id: string): Promise<KnownEntry | null> {
    return knownEntry(id, await fromSource(() => readSmall(this.from.stores.records, keyOf.record(id))));
  }

  async #entryAtTarget(id: string): Promise<KnownEntry | null> {
    return knownEntry(id, await readSmall(this.to.stores.records, keyOf.record(id)));
  }

  /** Whether a repair of the source ended the image for want of bytes, and the backup has a living copy. */
  async #isLost(key: string, ended: ImageRecord): Promise<boolean> {
    if (ended.gone?.lost !== true) return false;
    const copy = (await this.#entryAtTarget(ended.id))?.record ?? null;
    if (copy === null || this.to.revived(ended, copy) === null) return false;
    this.damaged.set(key, "was ended by a repair of the source for want of bytes; the backup keeps its copy");
    return true;
  }

  /**
   * Whether the target's record, once updated, still names these bytes. If so, the source has lost them; if not, the image was
   * deleted after its record was copied.
   */
  async #isStillNamed(key: string): Promise<boolean> {
    const [id = ""] = key.split("/");
    const recordKey = keyOf.record(id);
    if ((await this.copyRecord(recordKey)).outcome === "missing")
      await this.to.stores.records.delete(recordKey);
    const record = (await this.#entryAtTarget(id))?.record ?? null;
    if (record === null || bytesKeyOf(record) !== key) return false;
    this.damaged.set(key, "is missing at the source; the backup keeps its copy");
    return true;
  }
}

/** A record of this release, or of a newer one: `null`. */
interface KnownEntry {
  record: ImageRecord | null;
}

/** `null`: there is no record, or it is damaged, which its own copy reports. */
function knownEntry(id: string, bytes: Buffer | null): KnownEntry | null {
  const entry = bytes === null ? null : readEntry(keyOf.record(id), bytes);
  return entry === null || entry.problem === "damaged" ? null : { record: entry.record };
}

function changedMeanwhile(what: string): ServiceError {
  return new ServiceError("conflict", `${what} changed at the source during the copy`);
}
