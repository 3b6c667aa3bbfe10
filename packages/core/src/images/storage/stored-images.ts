import type { ImageStorage, StorageRoles } from "../../contracts/blob-store.ts";
import { onCode, ServiceError } from "../../errors.ts";
import { createDueList, type DueList } from "../../stores/due-list.ts";
import { NameIndex } from "../../stores/name-index.ts";
import { defaultSettings, type ImageSettings, imageSettings } from "../image-settings.ts";
import { SeenClock } from "../life/clock-guard.ts";
import { createLife, type LifeContext } from "../life/create-life.ts";
import { loadAny, remainsOf } from "../life/damaged-image.ts";
import { endedRecord, markDeleted, removeBytes, sweepImage } from "../life/end-image.ts";
import { OWNED_INDEX } from "../owners/owned-images.ts";
import { ORPHAN_MS } from "../processing/lease.ts";
import { type Gone, type ImageRecord, keyOf, type Withholding } from "../record/image-record.ts";
import { addNextSweep, BY_RECORD, nextSweepAt, stateAt } from "../record/image-state.ts";
import { rolesOf } from "../record/storage-roles.ts";
import { removeMade, removeStored } from "../renditions/remove-stored.ts";
import { REPORTS, type ReportCase } from "../reports/report-case.ts";
import { reportLists, scheduleCases } from "../reports/reports.ts";
import { createAdminGuard, NEVER_OPENED } from "../store/store-guard.ts";
import { StoreRefused } from "../store/store-identity.ts";
import { KEPT_MS as CLAIM_KEPT_MS } from "../uploads/claims.ts";
import { StorageIdentity } from "./storage-identity.ts";

const DAY_MS = 86_400_000;
const EMPTIED_MS = 3_600_000;
/** Most due entries that {@link StoredImages.uploadsUnderWay} reads. */
const MAX_ENTRIES = 1000;

export interface StoredImagesSettings {
  /** Days that the service remembers gone images. */
  tombstoneDays: number;
  /** The time in Unix milliseconds. */
  now: () => number;
  onError: ImageSettings["onError"];
  /** Accepts originals whose store lacks its mark. */
  acceptsUnmarked: boolean;
}

/** The end of an image, as a list of ends states it. */
export interface KnownEnd {
  at: number;
  /** `null`: the image is withheld only. */
  why: Gone["why"] | null;
  withheld: Withholding | null;
}

/** The images of a storage, changed as a service changes them. A service may use the storage at the same time. */
export class StoredImages {
  readonly stores: StorageRoles;
  readonly identity: StorageIdentity;
  readonly tombstoneMs: number;
  readonly #settings: StoredImagesSettings;
  #life: LifeContext | null = null;

  constructor(storage: ImageStorage, settings: StoredImagesSettings) {
    this.stores = rolesOf(storage);
    this.identity = new StorageIdentity(this.stores);
    this.tombstoneMs = settings.tombstoneDays * DAY_MS;
    this.#settings = settings;
  }

  now(): number {
    return this.#settings.now();
  }

  /** The list of due work of this name. */
  due(name: "images" | "jobs" | "claims" | "clock" | "removals" | "renditions"): DueList {
    return createDueList(this.stores.records, name);
  }

  /** Adds the due entries of an image, so that a service finds its work and its end. */
  async schedule(record: ImageRecord): Promise<void> {
    const { id, processing, createdAt } = record;
    // Only the service knows how long it keeps tombstones: its sweep checks an ended image once and sets the next due time.
    await addNextSweep(this.due("images"), record, 0);
    if (processing !== null && !stateAt(record, BY_RECORD).isOver)
      await this.due("jobs").add({ id, dueMs: createdAt });
  }

  /** Adds a due entry by which the sweep removes bytes that still have no record then. @returns that time */
  async scheduleOrphan(id: string): Promise<number> {
    const dueMs = this.now() + ORPHAN_MS;
    await this.due("images").add({ id, dueMs });
    return dueMs;
  }

  /** Adds the due entry of a claim. @param claimedAt See {@link StoredEntry.claimedAt}. */
  async scheduleClaim(key: string, claimedAt: number): Promise<void> {
    await this.due("claims").add({ id: key.slice(key.indexOf("/") + 1), dueMs: claimedAt + CLAIM_KEPT_MS });
  }

  /** Adds the due entries of reports. @param reports See {@link StoredEntry.reports}. */
  async scheduleReports(key: string, reports: readonly ReportCase[]): Promise<void> {
    await scheduleCases(reportLists(this.stores.records), key.slice(REPORTS.length), reports);
  }

  /** IDs of uploads that may still be in progress; `null`: the list is too long to read. */
  async uploadsUnderWay(): Promise<Set<string> | null> {
    const now = this.now();
    const entries = await this.due("images").due(now + ORPHAN_MS, MAX_ENTRIES);
    if (entries.length === MAX_ENTRIES) return null;
    return new Set(entries.filter(({ dueMs }) => dueMs > now).map(({ id }) => id));
  }

  /** The latest time that a service has seen, in Unix milliseconds; `null`: none. */
  seenMs(): Promise<number | null> {
    return new SeenClock(this.due("clock")).last();
  }

  async noteSeen(seenMs: number): Promise<void> {
    await new SeenClock(this.due("clock")).note(seenMs);
  }

  /** Whether an image has ended for good, by its record or by its dates. */
  isOver(record: ImageRecord): boolean {
    return stateAt(record, this.now()).isOver;
  }

  /** Whether an image ended an hour ago or earlier, by its record, so that its bytes are removed and every write of them is over. */
  isEmptied(record: ImageRecord): boolean {
    const isLost = record.gone?.lost === true;
    return !isLost && stateAt(record, BY_RECORD).isOver && record.updatedAt + EMPTIED_MS <= this.now();
  }

  /** Whether the end of an image need not be remembered any more. */
  isForgotten(record: ImageRecord): boolean {
    return stateAt(record, BY_RECORD).isOver && nextSweepAt(record, this.tombstoneMs) <= this.now();
  }

  /** The record of a copy as of now: ended or withheld by a list of ends, or ended by its own dates. */
  settled(copy: ImageRecord, end: KnownEnd | undefined): ImageRecord {
    if (stateAt(copy, BY_RECORD).isOver) return copy.owner === null ? copy : { ...copy, owner: null };
    const withheld = end?.withheld ?? null;
    const record = withheld === null ? copy : { ...copy, withheld };
    const isGone = end !== undefined && end.why !== null;
    const gone = isGone ? { at: end.at, why: end.why as Gone["why"] } : stateAt(record, this.now()).end;
    return gone === null ? record : { ...endedRecord(record, gone), owner: null };
  }

  /**
   * The record of an image that a repair ended for want of bytes, living again. Expiry and takedown are those of the ended record.
   * `null`: the image ended otherwise, or would be over.
   * @param copy The living record in a backup.
   */
  revived(ended: ImageRecord, copy: ImageRecord): ImageRecord | null {
    if (ended.gone?.lost !== true) return null;
    const { expiresAt, withheld, updatedAt } = ended;
    const record = { ...copy, expiresAt, withheld, updatedAt: Math.max(this.now(), updatedAt) };
    return this.isOver(record) ? null : record;
  }

  /** The record that replaces unreadable bytes without reverting a deletion or a takedown; `null`: none may. */
  async substitute(bytes: Buffer, copy: ImageRecord): Promise<ImageRecord | null> {
    const { hadEnded, wasWithheld, withheld } = remainsOf(bytes);
    if (hadEnded || (wasWithheld && withheld === null)) return null;
    const keys = [keyOf.original(copy.id), keyOf.upload(copy.id)];
    const found = await Promise.all(keys.map((key) => this.stores.originals.stat(key)));
    // A deleted image has no bytes.
    if (found.every((info) => info === null)) return null;
    return { ...copy, withheld: withheld ?? copy.withheld };
  }

  /**
   * Stores the record of an image by `store`, with its entry in the index of its owner's images, and charges the owner. Idempotent.
   * If `store` rejects, entry and charge are undone, unless the owner has the image.
   */
  async storeCharged(record: ImageRecord, store: () => Promise<unknown>): Promise<void> {
    const { owners, records, settings } = this.#living();
    await owners.reserve(record, {});
    try {
      await records.addEntries(record);
      await store();
      owners.settle(record);
    } catch (error) {
      await this.#undoCharge(record).catch(settings.onError);
      throw error;
    }
  }

  /** If this fails, the usage corrects itself later. */
  async #undoCharge(record: ImageRecord): Promise<void> {
    const { owners, records } = this.#living();
    // A write that seemed to fail may have taken effect, or another run was faster.
    const stored = (await records.loadUnconfirmed(record.id))?.record;
    if (stored?.owner?.name !== record.owner?.name) await owners.release(record);
  }

  /**
   * Ends an image like a deletion: 410, and the bytes are removed. Rejects with `conflict` if its record has another revision.
   * @param isLost Whether only bytes are missing or damaged, so that a backup can revive the image.
   */
  async end(id: string, revision: string, isLost: boolean): Promise<void> {
    const life = this.#living();
    const current = await loadAny(life, id);
    if (current?.revision !== revision) {
      const message = `Image ${id} was changed while it was verified. Run the verification again`;
      throw new ServiceError("conflict", message);
    }
    const { entry } = await markDeleted(life, current, { isLost });
    // If this fails, the sweep does it later.
    await sweepImage(life, entry).catch(life.settings.onError);
  }

  /** Removes all bytes of an image. */
  async removeBytes(id: string): Promise<void> {
    await removeStored(this.stores, id);
  }

  /** Removes the bytes of an image that has ended, or has no record. @returns whether it has */
  async removeUnlessAlive(id: string): Promise<boolean> {
    const life = this.#living();
    const current = await life.records.load(id).catch(onCode("damaged", "damaged"));
    if (current === "damaged" || (current !== null && !this.isOver(current.record))) return false;
    await removeBytes(life, id);
    return true;
  }

  /** Removes everything derived from the original of an image, and the notes about it. */
  async removeDerived(id: string): Promise<void> {
    await removeMade(this.stores.renditions, id);
    await this.stores.records.delete(keyOf.notes(id));
  }

  /**
   * Whether the index of its owner's images lacks an image, as in a raw copy of a storage. An upload
   * writes entry and record at once, so a young image lacks none.
   */
  async lacksEntry(record: ImageRecord): Promise<boolean> {
    if (record.owner === null || this.now() - record.createdAt < ORPHAN_MS) return false;
    const key = new NameIndex(this.stores.records, OWNED_INDEX).keyOf(record.owner.name, record);
    return (await this.stores.records.stat(key)) === null;
  }

  /** Lists an image in the index of its owner's images. */
  async addEntry(record: ImageRecord): Promise<void> {
    await this.#living().records.addEntries(record);
  }

  /** Counts the images of an owner again. @param key Key of the damaged count. */
  async recount(key: string): Promise<void> {
    await this.#living().owners.repair(key);
  }

  /**
   * Rejects unless the stores of all roles prove that they belong together: only then, a key that is missing in one of them is
   * lost.
   */
  async confirm(): Promise<void> {
    await this.#living().guard.confirmAll();
    if ((await this.identity.read()) === null) throw new StoreRefused(NEVER_OPENED);
  }

  /** Made at the first change: reading needs none of it. */
  #living(): LifeContext {
    if (this.#life !== null) return this.#life;
    const { tombstoneDays, now, onError, acceptsUnmarked } = this.#settings;
    const defaults = defaultSettings("StoredImages");
    const settings = imageSettings({ ...defaults, tombstoneDays, now, onError });
    const { stores } = this;
    const guard = createAdminGuard(stores, settings.log, { acceptUnmarked: acceptsUnmarked });
    this.#life = createLife(stores, settings, guard, { remove: (id) => this.removeBytes(id) }).life;
    return this.#life;
  }
}
