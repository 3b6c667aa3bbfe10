import { randomUUID } from "node:crypto";
import type { DueEntry } from "../../contracts/due-index.ts";
import { ServiceError } from "../../errors.ts";
import type { DueList } from "../../stores/due-list.ts";
import { isImageId } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { finishUpload, type JobOutcome, resumeUpload, type UploadWork } from "./finish-upload.ts";
import { RecordLease } from "./lease.ts";
import type { Job, ProcessingContext } from "./processing-context.ts";

/** Most queued jobs run at once. More would delay clients that wait for a reply. */
const MAX_AT_ONCE = 2;
const MAX_WAITING = 1000;
/** Pause after a job failed for an external reason, since the next job would fail too. */
const PAUSE_MS = 2_000;
/**
 * Time until a failed job is retried, least time until the next poll after one failed, and `Retry-After` while too many uploads
 * wait.
 */
const RETRY_MS = 5_000;
/** Time until the same failure of a poll is reported again. */
const REPORT_MS = 30_000;

/** Processes uploads that were answered with 202, and uploads that other processes left unfinished. */
export class Jobs {
  /** Name of this process in leases. */
  readonly worker = randomUUID();
  readonly #context: ProcessingContext;
  readonly #polled: DueList;
  /** In order of arrival. */
  readonly #waiting = new Map<string, Job>();
  /** IDs of failed jobs that wait for their retry. */
  readonly #failed = new Set<string>();
  readonly #underWay = new Map<string, AbortController>();
  readonly #tasks = new Set<Promise<void>>();
  #running = 0;
  #isPaused = false;
  /** Whether a job has succeeded since the last one failed. */
  #hasSucceeded = false;
  /** The last reported failure of a poll, and when it may be reported again. */
  #pollFailure = { message: "", againAt: 0 };
  #isClosed = false;
  #pauseTimer: NodeJS.Timeout | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  /** Pending uploads at the last count of a process that does not poll, and when to count again. */
  #counted = 0;
  #countAt = 0;

  /** @param polled `pending` without an observer, whose traces would otherwise consist of polls. */
  constructor(context: ProcessingContext, polled: DueList) {
    this.#context = context;
    this.#polled = polled;
  }

  /** Number of uploads queued in this process. */
  get waiting(): number {
    return this.#waiting.size + this.#failed.size;
  }

  /** Starts to poll for pending work, if this process processes uploads. */
  start(): void {
    if (this.#context.settings.processUploads) this.#pollIn(0);
  }

  /** Rejects with `overloaded` while too many uploads wait. */
  async requireRoom(): Promise<void> {
    const { processUploads } = this.#context.settings;
    if ((processUploads ? this.waiting : await this.#countPending()) < MAX_WAITING) return;
    throw new ServiceError("overloaded", "Too many uploads are waiting to be processed", {
      retryAfterMs: RETRY_MS,
    });
  }

  /** Queues a stored upload, unless it is queued already or this process leaves it to others. */
  enqueue(job: Job): void {
    if (this.#context.settings.processUploads) this.#append(job);
    this.#startWaiting();
  }

  /**
   * Finishes work that has begun, under the lease in `current`.
   * @param controller Abandons the admission when aborted.
   */
  finishInBackground(current: CurrentRecord, work: UploadWork, controller: AbortController): void {
    const lease = new RecordLease(this.#context, current, controller);
    if (this.#isClosed) controller.abort(closing());
    this.#run(current.record, controller, () =>
      finishUpload(this.#context, lease, async () => work, controller.signal),
    );
  }

  /** Abandons this process's work on a deleted image, and removes its leftovers. */
  cancel(job: Job): void {
    this.#waiting.delete(job.id);
    this.#failed.delete(job.id);
    const controller = this.#underWay.get(job.id);
    // The running work finds its lease lost and removes the leftovers.
    if (controller !== undefined) controller.abort(new Error("The image was deleted"));
    else this.#append(job);
    this.#startWaiting();
  }

  /** Stops accepting work, abandons queued admissions, and resolves when every lease is released. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#pollTimer);
    clearTimeout(this.#pauseTimer);
    this.#waiting.clear();
    this.#failed.clear();
    for (const controller of this.#underWay.values()) controller.abort(closing());
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
  }

  /** Runs `task` to its end as this process's only work on an image. @param task Never rejects. */
  #run(job: Job, controller: AbortController, task: () => Promise<JobOutcome>): void {
    this.#underWay.set(job.id, controller);
    const done = task().then((outcome) => {
      // Later work on the image may have replaced it.
      if (this.#underWay.get(job.id) === controller) this.#underWay.delete(job.id);
      if (outcome === "again") this.#retryLater(job);
      else this.#hasSucceeded = true;
      this.#startWaiting();
    });
    this.#track(done);
  }

  #track(task: Promise<void>): void {
    const tracked = task.finally(() => this.#tasks.delete(tracked));
    this.#tasks.add(tracked);
  }

  #startWaiting(): void {
    for (const [id, job] of this.#waiting) {
      if (this.#isClosed || this.#isPaused || this.#running >= MAX_AT_ONCE) return;
      this.#waiting.delete(id);
      this.#running++;
      const controller = new AbortController();
      this.#run(job, controller, () =>
        resumeUpload(this.#context, this.worker, job, controller).finally(() => {
          this.#running--;
        }),
      );
    }
  }

  /** Pauses the other jobs too, unless one has succeeded since the last failure: then the cause is not common to all. */
  #retryLater(job: Job): void {
    if (this.#context.settings.processUploads && !this.#isClosed) this.#appendLater(job);
    const isCommon = !this.#hasSucceeded;
    this.#hasSucceeded = false;
    if (!isCommon) return;
    this.#isPaused = true;
    clearTimeout(this.#pauseTimer);
    this.#pauseTimer = setTimeout(() => {
      this.#isPaused = false;
      this.#startWaiting();
    }, PAUSE_MS).unref();
  }

  #appendLater(job: Job): void {
    this.#failed.add(job.id);
    setTimeout(() => {
      // Deleted by `cancel` and `close`.
      if (this.#failed.delete(job.id)) this.#append(job);
      this.#startWaiting();
    }, RETRY_MS).unref();
  }

  #pollIn(ms: number): void {
    if (this.#isClosed) return;
    this.#pollTimer = setTimeout(() => this.#track(this.#poll()), ms).unref();
  }

  /** Finds the uploads that other processes accepted or abandoned. */
  async #poll(): Promise<void> {
    const { guard } = this.#context;
    const { pollMs } = this.#polled;
    try {
      await guard.open();
      for (const { id, dueMs } of await this.#listPending()) {
        if (isImageId(id)) this.#append({ id, createdAt: dueMs });
      }
      this.#pollIn(pollMs);
    } catch (error) {
      this.#reportPoll(error);
      this.#pollIn(Math.max(RETRY_MS, pollMs));
    }
    this.#startWaiting();
  }

  #reportPoll(error: unknown): void {
    const message = String(error);
    const now = performance.now();
    if (message === this.#pollFailure.message && now < this.#pollFailure.againAt) return;
    this.#pollFailure = { message, againAt: now + REPORT_MS };
    this.#context.settings.onError(error);
  }

  async #countPending(): Promise<number> {
    if (performance.now() >= this.#countAt) {
      this.#countAt = performance.now() + this.#polled.pollMs;
      this.#counted = (await this.#listPending()).length;
    }
    return this.#counted;
  }

  #listPending(): Promise<DueEntry[]> {
    return this.#polled.due(Number.POSITIVE_INFINITY, MAX_WAITING);
  }

  #append({ id, createdAt }: Job): void {
    const isHere = this.#underWay.has(id) || this.#waiting.has(id) || this.#failed.has(id);
    if (this.#isClosed || isHere || this.waiting >= MAX_WAITING) return;
    this.#waiting.set(id, { id, createdAt });
  }
}

function closing(): Error {
  return new Error("The service is closing");
}
