import { setTimeout as delay } from "node:timers/promises";
import type { StoreRole } from "@outrigger/core";
import { idOfRecord, keyOf, roleOf, StoredImages } from "@outrigger/core/storage";
import { checkOptions, type rules } from "@outrigger/core/stores";
import { Checks, type Trouble } from "./checks.ts";
import { Job, reasonIn } from "./job.ts";
import {
  EMPTY_REPORT,
  PHASES,
  VERIFY_RULES,
  type VerifyFinding,
  type VerifyOptions,
  type VerifyReport,
} from "./verify-options.ts";
import { countKeys, pagesOf } from "./walk.ts";

/** A rendition stored during a deletion is removed by its writer within this time. */
const SETTLE_MS = 1_000;
/** Prefixes of the keys of claims, of reports and of owners' usages. */
const CLAIMS = "idempotency/";
const REPORTS = "reports/";
const USAGES = "usage/";
/** Shorter pauses are added to the next one. */
const LEAST_PAUSE_MS = 10;
/** A repair removes this many images and originals, or this share of them, without a number that allows more. */
const FEW = 3;
const SMALL_SHARE = 0.01;

/** Checked options of a verification. */
type Settings = rules.Checked<typeof VERIFY_RULES>;

/**
 * Compares every record with its bytes (size and SHA-256), and finds bytes without a record. The storage may be in use: a
 * problem is checked twice before it is reported, and an image that ends meanwhile is not a finding.
 *
 * A repair changes only reported keys, by compare-and-set. It reverts neither deletions nor takedowns: an image is restored
 * from the backup if the copy there is intact and no trace shows that the image had ended. Otherwise it is deleted, once all
 * images and originals were checked, and only if that removes few of them (`maxRemovals`) and not all of them. An image that an earlier repair ended
 * because its bytes were missing or damaged is restored from the backup.
 *
 * @returns the report. The storage has no defects left if `defects` equals `repaired`.
 * @throws TypeError for an option out of range. ServiceError `store_unavailable` if a store is unavailable for longer than
 * `patienceMs`, `no_space` if a repair finds the store full.
 * @example
 * const storage = createFsBlobStore({ directory: "./data" });
 * const { defects } = await verifyStorage({ storage, onFinding: ({ key, what }) => console.log(key, what) });
 */
export async function verifyStorage(given: VerifyOptions): Promise<VerifyReport> {
  return new Verification(checkOptions("verifyStorage", given, VERIFY_RULES), Date.now).run();
}

/** Checks a storage, and repairs it if the options say so. */
export class Verification extends Job {
  readonly #options: Settings;
  readonly #checks: Checks;
  readonly #report: VerifyReport = { ...EMPTY_REPORT };
  /** Findings that are removed when everything was checked. */
  readonly #planned: VerifyFinding[] = [];
  /** Whether a repair may remove anything. */
  #mayRemove: boolean;
  /** Keys and directories that were reported as unreadable. */
  readonly #unreadable = new Set<string>();
  /** When the next bytes may be read, by the monotonic clock. */
  #freeAt = performance.now();

  /** @param now The time in Unix milliseconds. */
  constructor(options: Settings, now: () => number) {
    const { tombstoneDays, onError, maxRemovals, repair } = options;
    const settings = { tombstoneDays, now, onError, acceptsUnmarked: maxRemovals !== undefined };
    const images = new StoredImages(options.storage, settings);
    const backup = options.backup === undefined ? null : new StoredImages(options.backup, settings);
    super({ ...options, from: backup ?? images, to: images });
    this.#options = options;
    this.#checks = new Checks(this, repair ? backup : null, () => this.#report.intact++);
    this.#mayRemove = repair;
  }

  async run(): Promise<VerifyReport> {
    const { repair, maxRemovals } = this.#options;
    // A repair deletes by absence, so it needs the right stores. A verification alone only reads.
    await this.retry<unknown>(() => (repair ? this.to.confirm() : this.to.identity.read()));
    this.reportProgress();
    const counts = await countKeys(this.to.stores, this);
    for (const phase of PHASES) this.progress.totalKeys += counts[phase];
    for (const phase of PHASES) {
      this.progress.phase = phase;
      // Before renditions are removed: the records may turn out to be the wrong ones.
      if (phase === "renditions" && this.#report.unrestorable > 0) await this.#removePlanned();
      await this.#checkStore(phase);
    }
    await this.#checkUsages();
    const isWhole = this.#report.repaired >= this.#report.defects;
    if (repair && maxRemovals !== undefined && isWhole)
      await this.retry(() => this.to.identity.markOriginals());
    return this.#report;
  }

  override async paced(bytes: number): Promise<void> {
    this.progress.bytes += bytes;
    this.reportProgress();
    const now = performance.now();
    this.#freeAt = Math.max(this.#freeAt, now) + (bytes / this.#options.maxBytesPerSecond) * 1000;
    if (this.#freeAt - now < LEAST_PAUSE_MS) return;
    const { signal } = this;
    // An abort takes effect at the next key.
    await delay(this.#freeAt - now, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  }

  protected override note(key: string, error: unknown): void {
    // Several phases may meet it.
    if (this.#unreadable.has(key)) return;
    this.#unreadable.add(key);
    const detail = `its store cannot read it: ${reasonIn(error)}`;
    this.#found({ id: idOfRecord(key), key, what: "unreadable", detail, repair: null });
  }

  /** Reports a directory that may not be read, and goes on. What is below it is not absent: every read there rejects. */
  readonly onUnreadable = (path: string, error: unknown): void => this.note(path, error);

  #found(finding: VerifyFinding): void {
    if (finding.what === "newer") this.#report.newer++;
    else this.#report.defects++;
    if (finding.repair !== null && finding.repair !== "failed") this.#report.repaired++;
    this.#options.onFinding?.(finding);
  }

  /** Checks the keys of one role, page by page. */
  async #checkStore(phase: StoreRole): Promise<void> {
    for await (const page of pagesOf(this.to.stores[phase], this)) {
      const keys = page.filter((key) => roleOf(key) === phase);
      if (phase === "records") await this.each(keys, (key) => this.#checkRecord(key));
      else await this.#checkOrphans(phase, keys);
      this.#report.bytes = this.progress.bytes;
    }
  }

  async #checkRecord(key: string): Promise<void> {
    const isImage = idOfRecord(key) !== null;
    if (isImage || key.startsWith(CLAIMS) || key.startsWith(REPORTS)) {
      await this.#checkKey(key, () => {
        if (isImage) this.#report.images++;
      });
    }
    this.progress.keys++;
    this.reportProgress();
  }

  /** @param onChecked Called before a problem is repaired. */
  async #checkKey(key: string, onChecked = () => {}): Promise<void> {
    await this.tryKey(key, async () => {
      const trouble = await this.#checks.check(key);
      onChecked();
      if (trouble !== null) await this.#settle(key, trouble);
    });
  }

  /** Runs last, so that a new count includes every restored record. */
  async #checkUsages(): Promise<void> {
    for await (const keys of pagesOf(this.to.stores.records, this, USAGES)) {
      await this.each(keys, (key) => this.#checkKey(key));
    }
  }

  /** Finds bytes without a living image among keys of one role. */
  async #checkOrphans(role: StoreRole, keys: readonly string[]): Promise<void> {
    const orphans = new Set<string>();
    const ids = keys.map((key) => key.slice(0, key.indexOf("/")));
    await this.each(new Set(ids), async (id) => {
      await this.tryKey(keyOf.record(id), async () => {
        if ((await this.#checks.whyEmpty(id)) !== null) orphans.add(id);
      });
    });
    const suspects = keys.filter((_, at) => orphans.has(ids[at] ?? ""));
    let underWay: Set<string> | null = new Set();
    if (suspects.length > 0 && role === "renditions") await delay(SETTLE_MS);
    // Before the record is read again: an upload is in the list from before its bytes until after its record.
    else if (suspects.length > 0) underWay = await this.retry(() => this.to.uploadsUnderWay());
    for (const key of suspects) {
      if (underWay?.has(key.slice(0, key.indexOf("/")))) continue;
      await this.tryKey(key, async () => {
        const trouble = await this.#checks.check(key);
        if (trouble === null) return;
        if (underWay === null) this.#report.undecided++;
        else await this.#settle(key, trouble);
      });
    }
    this.progress.keys += keys.length;
    this.reportProgress();
  }

  /** Repairs a problem, and reports it. What only a removal ends is planned for the end. */
  async #settle(key: string, trouble: Trouble): Promise<void> {
    const { id, what, detail } = trouble;
    const mayRepair = this.#options.repair && (this.#mayRemove || what !== "orphaned-rendition");
    const repair = mayRepair ? await this.#repaired(() => trouble.repair()) : null;
    const finding: VerifyFinding = { id, key, what, detail, repair };
    if (repair === "restored") this.#report.intact++;
    if (repair !== null || trouble.remove === undefined) return this.#found(finding);
    if (what === "orphaned-bytes") this.#report.orphans++;
    this.#planRemoval(finding);
  }

  /** Runs a repair. A failure, such as a concurrent change of the image, is reported and does not stop other repairs. */
  async #repaired(work: () => Promise<VerifyFinding["repair"]>): Promise<VerifyFinding["repair"]> {
    try {
      return await work();
    } catch (error) {
      this.#options.onError(error);
      return "failed";
    }
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
    const { unrestorable: removals, images, intact, orphans } = this.#report;
    const of = images + orphans;
    const most = maxRemovals ?? Math.max(FEW, Math.floor(of * SMALL_SHARE));
    // In a place that is proven, a few images may be all.
    const mayEnd = (await this.retry(() => this.to.identity.provesOriginals())) ? FEW : 0;
    const areAllAbsent = (intact === 0 && removals - orphans > mayEnd) || undefined;
    const isAllowed = removals <= most && !areAllAbsent;
    if (repair) onRemovals?.({ removals, of, most, isAllowed, areAllAbsent });
    if (!isAllowed) {
      this.#giveUp();
      this.#mayRemove = false;
    }
    for (const finding of this.#planned.splice(0)) {
      const { key } = finding;
      this.signal?.throwIfAborted();
      // A volume may have gone away meanwhile.
      await this.retry(() => this.to.confirm());
      await this.tryKey(key, async () => {
        const trouble = await this.#checks.check(key);
        if (trouble?.remove === undefined) return;
        const repair = await this.#repaired(async () => {
          await trouble.remove?.();
          return "removed";
        });
        this.#found({ ...finding, repair });
      });
    }
  }
}
