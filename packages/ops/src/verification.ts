import { setTimeout as delay } from "node:timers/promises";
import { isServiceError, type StoreRole } from "@outrigger/core";
import { idOfRecord, roleOf, type StoredImages } from "@outrigger/core/storage";
import type { Checked } from "@outrigger/core/stores";
import { Inspector, imageOf, listed } from "./inspect.ts";
import { Job, reasonIn } from "./job.ts";
import { Repair } from "./repair.ts";
import {
  EMPTY_REPORT,
  PHASES,
  type VERIFY_RULES,
  type VerifyFinding,
  type VerifyOptions,
  type VerifyReport,
  type VerifyState,
} from "./verify-options.ts";
import { countKeys } from "./walk.ts";

/** Keys between two saved states, which are checked again after an interruption. */
const PAGE_KEYS = 500;
/** A rendition stored during a deletion is removed by its writer within this time. */
const SETTLE_MS = 1_000;
/** Shorter pauses are added to the next one. */
const LEAST_PAUSE_MS = 10;
/** A repair removes this many images and originals, or this share of them, without a number that allows more. */
const FEW = 3;
const SMALL_SHARE = 0.01;

/** Checked options of a verification. */
export type VerificationSettings = Omit<Checked<VerifyOptions, typeof VERIFY_RULES>, "state"> & {
  state: VerifyState | undefined;
};

/** Checks a storage, and repairs it if the options say so. */
export class Verification extends Job {
  readonly #options: VerificationSettings;
  readonly #repair: Repair;
  readonly #inspector: Inspector;
  readonly #report: VerifyReport;
  /** Findings that are removed when everything was checked. */
  readonly #planned: VerifyFinding[];
  /** Whether a repair may remove anything. */
  #mayRemove: boolean;
  /** When the next bytes may be read, by the monotonic clock. */
  #freeAt = performance.now();

  constructor(options: VerificationSettings, images: StoredImages, backup: StoredImages | null) {
    super({ ...options, from: backup ?? images, to: images });
    this.#options = options;
    this.#repair = new Repair(this, backup, options.onError);
    this.#inspector = new Inspector(this, options.repair ? this.#repair : null);
    this.#mayRemove = options.repair;
    const { state } = options;
    // Earlier releases saved neither planned removals nor their counts.
    this.#report = { ...EMPTY_REPORT, ...state?.report };
    this.#planned = [...(state?.planned ?? [])];
    Object.assign(this.progress, { keys: state?.keys ?? 0, totalKeys: state?.totalKeys ?? 0 });
    this.progress.bytes = this.#report.bytes;
  }

  async run(): Promise<VerifyReport> {
    const { state, repair, maxRemovals } = this.#options;
    // A repair deletes by absence, so it needs the right stores. A verification alone only reads.
    await this.retry<unknown>(() => (repair ? this.to.confirm() : this.to.identity.read()));
    this.tell();
    if (state === undefined) {
      const counts = await countKeys(this.to.stores, this);
      for (const phase of PHASES) this.progress.totalKeys += counts[phase];
    }
    for (const phase of PHASES.slice(state === undefined ? 0 : PHASES.indexOf(state.phase))) {
      this.progress.phase = phase;
      // Before renditions are removed: the records may turn out to be the wrong ones.
      if (phase === "renditions") await this.#removePlanned();
      await this.#checkStore(phase, state?.phase === phase ? state.cursor : null);
    }
    await this.#checkUsage();
    const isWhole = this.#report.repaired >= this.#report.defects;
    if (repair && maxRemovals !== undefined && isWhole)
      await this.retry(() => this.to.identity.markOriginals());
    return this.#report;
  }

  override async paced(bytes: number): Promise<void> {
    this.progress.bytes += bytes;
    this.tell();
    const now = performance.now();
    this.#freeAt = Math.max(this.#freeAt, now) + (bytes / this.#options.maxBytesPerSecond) * 1000;
    if (this.#freeAt - now < LEAST_PAUSE_MS) return;
    const { signal } = this;
    // An abort takes effect at the next key.
    await delay(this.#freeAt - now, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  }

  protected override note(key: string, error: unknown): void {
    const detail = `its store cannot read it: ${reasonIn(error)}`;
    this.#found({ id: idOfRecord(key), key, what: "unreadable", detail, repair: null });
  }

  #found(finding: VerifyFinding): void {
    if (finding.what === "newer") this.#report.newer++;
    else this.#report.defects++;
    if (finding.repair !== null && finding.repair !== "failed") this.#report.repaired++;
    this.#options.onFinding?.(finding);
  }

  /** Checks the keys of one role, page by page. */
  async #checkStore(phase: StoreRole, start: string | null): Promise<void> {
    const store = this.to.stores[phase];
    let cursor = start;
    do {
      const at = cursor === null ? {} : { cursor };
      const page = await this.retry(() => store.list("", { limit: PAGE_KEYS, ...at })).catch((error) => {
        if (cursor === null || !isServiceError(error, "bad_request")) throw error;
        // The cursor has expired: start from the beginning.
        return this.retry(() => store.list("", { limit: PAGE_KEYS }));
      });
      const keys = page.keys.filter((key) => roleOf(key) === phase);
      if (phase === "records") await this.each(listed(keys), (key) => this.#checkKey(key));
      else await this.#checkOrphans(phase, keys);
      this.#report.bytes = this.progress.bytes;
      cursor = page.cursor ?? null;
      await this.#options.saveState?.(this.#stateAt(phase, cursor));
    } while (cursor !== null);
  }

  /** The state after a page: after the last page of a phase, the start of the next phase. */
  #stateAt(phase: StoreRole, cursor: string | null): VerifyState {
    const { keys, totalKeys } = this.progress;
    const next = cursor === null ? (PHASES[PHASES.indexOf(phase) + 1] ?? phase) : phase;
    const [report, planned] = [{ ...this.#report }, [...this.#planned]];
    return { phase: next, cursor, keys, totalKeys, report, planned };
  }

  async #checkKey(key: string): Promise<void> {
    const id = idOfRecord(key);
    const { records } = this.to.stores;
    await this.attempt(key, async () => {
      if (id !== null) await this.#checkImage(key, id);
      else if (key.startsWith("idempotency/")) {
        // An unreadable claim protects nothing.
        await this.#checkValue(key, "damaged-claim", "removed", () => records.delete(key));
      }
    });
    this.progress.keys++;
    this.tell();
  }

  /** Checks the record of an image, and its bytes. */
  async #checkImage(key: string, id: string): Promise<void> {
    const suspicion = await this.#inspector.image(key);
    this.#report.images++;
    if (suspicion === null) return;
    const { trouble, blob } = suspicion;
    const { what, detail, record } = trouble;
    if (what === "missing-entry" && record !== null) {
      const repair = await this.#repaired("restored", () => this.to.addEntry(record));
      return this.#found({ id, key, what, detail, repair });
    }
    const isForUs = this.#options.repair && what !== "newer";
    const restored = () => this.#repair.restoreImage(id, record, blob);
    const repair = isForUs ? await this.#repair.run(restored) : null;
    const finding: VerifyFinding = { id, key, what, detail, repair };
    if (finding.repair === null && what !== "newer") this.#planRemoval(finding);
    else this.#found(finding);
  }

  /** Checks the usage of owners. Runs last, so that a new count includes every restored record. */
  async #checkUsage(): Promise<void> {
    const { records } = this.to.stores;
    let cursor: string | undefined;
    do {
      const at = cursor === undefined ? {} : { cursor };
      const page = await this.retry(() => records.list("usage/", at));
      await this.each(listed(page.keys), async (key) => {
        const recount = () => this.to.recount(key);
        await this.attempt(key, () => this.#checkValue(key, "damaged-usage", "counted", recount));
      });
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  /** Checks a value that belongs to no image. */
  async #checkValue(
    key: string,
    what: VerifyFinding["what"],
    outcome: "restored" | "removed" | "counted",
    work: () => Promise<unknown>,
  ): Promise<void> {
    const detail = await this.#inspector.whyDamaged(key);
    if (detail === null) return;
    this.#found({ id: null, key, what, detail, repair: await this.#repaired(outcome, work) });
  }

  /** The outcome of a repair, if this is one. */
  async #repaired(
    outcome: "restored" | "removed" | "counted",
    work: () => Promise<unknown>,
  ): Promise<VerifyFinding["repair"]> {
    return this.#options.repair ? this.#repair.run(() => work().then(() => outcome)) : null;
  }

  /** Finds bytes without a record among keys of one role. */
  async #checkOrphans(role: StoreRole, keys: readonly string[]): Promise<void> {
    this.signal?.throwIfAborted();
    const suspects = await this.#inspector.withoutRecord(keys);
    if (suspects.length > 0 && role === "renditions") {
      await delay(SETTLE_MS);
      for (const key of await this.#inspector.withoutRecord(suspects)) {
        await this.attempt(key, () => this.#checkRendition(key));
      }
    } else if (suspects.length > 0) {
      // Read first: an upload being stored is in the list from before its bytes until after its record.
      const underWay = await this.retry(() => this.to.uploadsUnderWay());
      for (const key of await this.#inspector.withoutRecord(suspects)) {
        if (underWay === null) this.#report.undecided++;
        else if (!underWay.has(imageOf(key))) await this.attempt(key, () => this.#checkOriginal(key));
      }
    }
    this.progress.keys += keys.length;
    this.tell();
  }

  async #checkRendition(key: string): Promise<void> {
    const { renditions } = this.to.stores;
    if ((await renditions.stat(key)) === null) return;
    const repair = this.#mayRemove ? await this.#repaired("removed", () => renditions.delete(key)) : null;
    this.#found({ id: imageOf(key), key, what: "orphaned-rendition", detail: `${key} has no image`, repair });
  }

  async #checkOriginal(key: string): Promise<void> {
    const info = await this.to.stores.originals.stat(key);
    if (info === null) return;
    const id = imageOf(key);
    const restored = () => this.#repair.restoreOrphan(id, key);
    const repair = this.#options.repair ? await this.#repair.run(restored) : null;
    const detail = `${key} has ${info.size} bytes, and there is no record`;
    const finding: VerifyFinding = { id, key, what: "orphaned-bytes", detail, repair };
    if (repair !== null) return this.#found(finding);
    this.#report.orphans++;
    this.#planRemoval(finding);
  }

  /** Notes a defect that only a removal ends, until {@link #removePlanned}. Reports it at once if nothing is to be removed. */
  #planRemoval(finding: VerifyFinding): void {
    this.#report.unrestorable++;
    const { repair, maxRemovals } = this.#options;
    const most = maxRemovals ?? Math.max(FEW, Math.ceil(this.progress.totalKeys * SMALL_SHARE));
    this.#planned.push(finding);
    if (!repair || this.#report.unrestorable > most) this.#giveUp();
  }

  /** Reports what was planned as not repaired. */
  #giveUp(): void {
    for (const finding of this.#planned.splice(0)) this.#found(finding);
  }

  /**
   * Removes what was planned, unless that is more than allowed: then nothing is removed, here and afterwards. Each defect is
   * checked again before, and so are the stores.
   */
  async #removePlanned(): Promise<void> {
    const { repair, maxRemovals, onRemovals } = this.#options;
    const removals = this.#report.unrestorable;
    const of = this.#report.images + this.#report.orphans;
    const most = maxRemovals ?? Math.max(FEW, Math.floor(of * SMALL_SHARE));
    const isAllowed = removals <= most;
    if (repair && removals > 0) onRemovals?.({ removals, of, most, isAllowed });
    if (!isAllowed) {
      this.#giveUp();
      this.#mayRemove = false;
    }
    for (const finding of this.#planned.splice(0)) {
      this.signal?.throwIfAborted();
      // A volume may have gone away meanwhile.
      await this.retry(() => this.to.confirm());
      const isOrphan = finding.what === "orphaned-bytes";
      await this.attempt(finding.key, () =>
        isOrphan ? this.#removeOrphan(finding) : this.#endImage(finding),
      );
    }
  }

  /** Deletes planned bytes, unless their record is there by now. */
  async #removeOrphan(finding: VerifyFinding): Promise<void> {
    if ((await this.#inspector.withoutRecord([finding.key])).length === 0) return;
    const removed = () => this.to.stores.originals.delete(finding.key);
    this.#found({ ...finding, repair: await this.#repaired("removed", removed) });
  }

  /** Ends the image of a planned removal, unless it is whole or has ended by now. */
  async #endImage(finding: VerifyFinding): Promise<void> {
    const { key } = finding;
    const suspicion = await this.#inspector.image(key);
    if (suspicion === null || ["newer", "missing-entry"].includes(suspicion.trouble.what)) return;
    const { trouble, blob } = suspicion;
    const ended = () => this.to.end(imageOf(key), blob.revision, trouble.record !== null);
    this.#found({ ...finding, repair: await this.#repaired("removed", ended) });
  }
}
