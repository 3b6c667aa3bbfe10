import { ServiceError } from "@outrigger/core";
import { bytesKeyOf, encodeRecord, type ImageRecord, keyOf, readEntry } from "@outrigger/core/storage";
import { putSmall, readBlob, readSmall, type SmallBlob } from "./blobs.ts";
import { bringBytes, storeRevived } from "./bring.ts";
import type { KnownEnds } from "./end-lists.ts";
import { fromSource, type JobSettings } from "./job.ts";
import { Mirror } from "./mirror.ts";

/** The result for an image. `over`: its end need not be remembered any more. `damaged`: noted in the report. */
export type Restored = "restored" | "kept" | "ended" | "absent" | "over" | "damaged";

export interface RestoreSettings {
  ends: KnownEnds;
  /** Whether the target had images before the first run. They are then left unchanged. */
  isLiving: boolean;
  /** Whether images missing from a living target are restored. */
  mayAdd: boolean;
}

/** Restores images of a backup one by one. */
export class RestoreRun extends Mirror {
  readonly #settings: RestoreSettings;

  constructor(job: JobSettings, settings: RestoreSettings) {
    super({ ...job, isBackup: true, verify: false, withRenditions: false });
    this.#settings = settings;
  }

  /** Restores one image, or the record of its end. Idempotent. */
  async restoreImage(id: string): Promise<Restored> {
    const { from, to } = this;
    const { ends, isLiving, mayAdd } = this.#settings;
    const key = keyOf.record(id);
    const bytes = await fromSource(() => readSmall(from.stores.records, key));
    const entry = bytes === null ? null : readEntry(key, bytes);
    if (bytes === null || entry === null || entry.record === null) {
      const isNewer = entry?.problem === "newer";
      this.damaged.set(key, isNewer ? "was written by a newer release" : "is not a valid record of an image");
      return "damaged";
    }
    const copy = entry.record;
    const record = to.settled(copy, ends.byId.get(id));
    const there = await readBlob(to.stores.records, key);
    if (there !== null && isLiving) return this.#restoreInto(key, there, copy, record);
    const wanted = record === copy ? bytes : encodeRecord(record);
    const isSame = there?.bytes.equals(wanted) === true;
    if (bytesKeyOf(record) !== null) {
      if (isLiving && !mayAdd) return "absent";
      if (!(await this.#bring(record))) return "damaged";
      await to.schedule(record);
      // Charged again if it is there: an attempt whose write seemed to fail may have undone the charge.
      await to.storeCharged(record, async () => {
        if (!isSame) await this.#putRecord(key, wanted);
      });
      return isSame ? "kept" : "restored";
    }
    if (to.isForgotten(record)) return "over";
    await to.schedule(record);
    if (!isSame) await this.#putRecord(key, wanted);
    // An earlier run, without this end, restored the image.
    if (there !== null) await to.removeBytes(id);
    return "ended";
  }

  /**
   * Restores what an image of a living target lacks: its life, if a repair ended it for want of bytes, or its bytes. Everything else
   * stays unchanged.
   */
  async #restoreInto(
    key: string,
    there: SmallBlob,
    copy: ImageRecord,
    settled: ImageRecord,
  ): Promise<Restored> {
    const { to } = this;
    const { record } = readEntry(key, there.bytes);
    if (record === null) return "kept";
    const revived = to.revived(record, settled);
    if (revived !== null) {
      if (!(await this.#bring(revived))) return "damaged";
      await storeRevived(this, revived, there.revision);
      return "restored";
    }
    const bytesKey = bytesKeyOf(record);
    if (bytesKey === null) return "ended";
    if (to.isOver(record)) return "kept";
    if ((await to.stores.originals.stat(bytesKey)) !== null) {
      // An attempt whose write seemed to fail may have undone the charge.
      if (await to.lacksEntry(record)) await to.storeCharged(record, async () => undefined);
      return "kept";
    }
    if (bytesKeyOf(copy) !== bytesKey || copy.sha256 !== record.sha256) return "kept";
    if (!(await this.#bring(copy))) return "damaged";
    // The image may have been deleted meanwhile.
    return (await to.removeUnlessAlive(copy.id)) ? "ended" : "restored";
  }

  /** @returns whether the target now has the bytes, with the size and digest of the record */
  async #bring(record: ImageRecord): Promise<boolean> {
    const outcome = await bringBytes(this, record, false);
    if (outcome === "copied" || outcome === "unchanged") return true;
    const bytesKey = bytesKeyOf(record) ?? keyOf.original(record.id);
    this.damaged.set(bytesKey, outcome === "missing" ? "is missing" : "is not as its record states");
    return false;
  }

  async #putRecord(key: string, bytes: Buffer): Promise<void> {
    if (!this.#settings.isLiving) return putSmall(this, key, bytes);
    const { records } = this.to.stores;
    await records.put(key, bytes, { ifRevision: null });
    if ((await records.stat(key)) !== null) return;
    throw new ServiceError("store_unavailable", "the target did not keep the record");
  }
}
