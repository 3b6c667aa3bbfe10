import { randomUUID } from "node:crypto";
import type { JobQueue } from "../../contracts/job-queue.ts";
import { ServiceError } from "../../errors.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { finishUpload, type Outcome, type UploadWork } from "./finish-upload.ts";
import type { JobMarker } from "./job-markers.ts";
import { holdLease } from "./lease.ts";
import type { ProcessingContext } from "./processing-context.ts";
import { resumeUpload } from "./resume-upload.ts";
import { LEASE_MS } from "./transitions.ts";

/** Processes uploads that were answered with 202, and uploads that other processes left unfinished. */
export interface Jobs {
  /** Name of this process in leases. */
  readonly worker: string;
  /** Number of uploads queued in this process. */
  readonly waiting: number;
  /** Starts to poll for pending work. */
  start(): void;
  /** Rejects with `overloaded` when the queue is full. */
  requireRoom(): Promise<void>;
  /** Queues a stored upload, here or in the shared job queue, unless it is queued already. */
  enqueue(marker: JobMarker): void;
  /**
   * Finishes work that has begun, under the lease in `current`.
   * @param controller Abandons the admission when aborted.
   */
  finishInBackground(current: CurrentRecord, work: UploadWork, controller: AbortController): void;
  /** Abandons this process's work on a deleted image, and removes its leftovers. */
  cancel(marker: JobMarker): void;
  /** Stops accepting work, abandons queued admissions, resolves when every lease is released, and closes the shared queue. */
  close(): Promise<void>;
}

/** A job queued in this process. */
interface Waiting {
  marker: JobMarker;
  /** Called when the job is over or abandoned. */
  over(): void;
}

/** Most queued jobs run at once. More would delay clients that wait for a reply. */
const MAX_AT_ONCE = 2;
const MAX_WAITING = 1000;
/** Pause after a job failed for an external reason, since the next job would fail too. */
const PAUSE_MS = 2_000;
/** Poll intervals for work of other processes: while some is pending, and while none is. */
const LOOK_MS = 5_000;
const IDLE_LOOK_MS = 30_000;

/** @param queue The job queue of all processes; `null`: each process has its own queue. */
export function createJobs(context: ProcessingContext, queue: JobQueue | null): Jobs {
  return new UploadJobs(context, queue);
}

class UploadJobs implements Jobs {
  readonly worker = randomUUID();
  readonly #context: ProcessingContext;
  readonly #queue: JobQueue | null;
  /** In order of arrival. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #underWay = new Map<string, AbortController>();
  readonly #tasks = new Set<Promise<void>>();
  readonly #poll = new Alarm(() => this.#track(this.#look()));
  #running = 0;
  #isPaused = false;
  #isClosed = false;
  #pauseTimer: NodeJS.Timeout | undefined;

  constructor(context: ProcessingContext, queue: JobQueue | null) {
    this.#context = context;
    this.#queue = queue;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  start(): void {
    if (!this.#context.settings.processUploads) return;
    this.#poll.within(0);
    this.#queue?.work((marker) => this.#workOn(marker), MAX_AT_ONCE);
  }

  async requireRoom(): Promise<void> {
    if ((await this.#waitingAnywhere()) < MAX_WAITING) return;
    throw new ServiceError("overloaded", "Too many uploads are waiting to be processed", {
      retryAfterMs: LOOK_MS,
    });
  }

  enqueue({ id, createdAt }: JobMarker): void {
    if (this.#queue !== null) {
      this.#track(this.#enqueueForAll(this.#queue, { id, createdAt }));
      return;
    }
    if (this.#context.settings.processUploads) this.#line({ id, createdAt });
    this.#startWaiting();
  }

  finishInBackground(current: CurrentRecord, work: UploadWork, controller: AbortController): void {
    const lease = holdLease(this.#context, current, controller);
    if (this.#isClosed) controller.abort(closing());
    this.#run(current.record.id, controller, async () => {
      this.#settle(await finishUpload(this.#context, lease, async () => work, controller.signal));
    });
  }

  cancel(marker: JobMarker): void {
    this.#waiting.get(marker.id)?.over();
    this.#waiting.delete(marker.id);
    const controller = this.#underWay.get(marker.id);
    // The running work finds its lease lost and removes the leftovers.
    if (controller !== undefined) controller.abort(new Error("The image was deleted"));
    else this.#line(marker);
    this.#startWaiting();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#poll.close();
    clearTimeout(this.#pauseTimer);
    for (const { over } of this.#waiting.values()) over();
    this.#waiting.clear();
    for (const controller of this.#underWay.values()) controller.abort(closing());
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
    await this.#queue?.close();
  }

  /** Runs `task` to its end as this process's only work on an image. */
  #run(id: string, controller: AbortController, task: () => Promise<void>): void {
    this.#underWay.set(id, controller);
    this.#track(task().finally(() => this.#underWay.delete(id)));
  }

  #track(task: Promise<void>): void {
    const tracked = task.finally(() => this.#tasks.delete(tracked));
    this.#tasks.add(tracked);
  }

  #startWaiting(): void {
    for (const [id, { marker, over }] of this.#waiting) {
      if (this.#isClosed || this.#isPaused || this.#running >= MAX_AT_ONCE) return;
      this.#waiting.delete(id);
      this.#running++;
      const controller = new AbortController();
      this.#run(id, controller, async () => {
        const outcome = await resumeUpload(this.#context, this.worker, marker, controller);
        this.#running--;
        over();
        this.#settle(outcome);
      });
    }
  }

  /** A job to retry is found again by its marker, and goes behind the jobs queued now. */
  #settle(outcome: Outcome): void {
    if (outcome === "again") this.#pause();
    this.#startWaiting();
  }

  #pause(): void {
    this.#isPaused = true;
    clearTimeout(this.#pauseTimer);
    this.#pauseTimer = setTimeout(() => {
      this.#isPaused = false;
      this.#startWaiting();
    }, PAUSE_MS).unref();
    if (this.#context.settings.processUploads) this.#poll.within(LOOK_MS);
  }

  async #look(): Promise<void> {
    const { guard, markers, settings } = this.#context;
    let found = 0;
    try {
      await guard.open();
      const pending = await markers.list(MAX_WAITING);
      found = pending.length;
      // The shared queue delivers new jobs. Resuming them here too would only compete with their worker.
      const untilMs = this.#queue === null ? Number.POSITIVE_INFINITY : settings.now() - LEASE_MS;
      for (const marker of pending) if (marker.createdAt <= untilMs) this.#line(marker);
    } catch (error) {
      settings.onError(error);
    }
    this.#poll.within(found > 0 ? LOOK_MS : IDLE_LOOK_MS);
    this.#startWaiting();
  }

  /** @param over Called when the job is over in this process; at once if it is not queued. */
  #line({ id, createdAt }: JobMarker, over: () => void = () => undefined): void {
    const isHere = this.#underWay.has(id) || this.#waiting.has(id);
    if (this.#isClosed || isHere || this.#waiting.size >= MAX_WAITING) over();
    else this.#waiting.set(id, { marker: { id, createdAt }, over });
  }

  async #enqueueForAll(queue: JobQueue, marker: JobMarker): Promise<void> {
    const { onError, processUploads } = this.#context.settings;
    try {
      await queue.enqueue(marker);
    } catch (error) {
      onError(error);
      // Other processes find the job by its marker; this process starts it at once.
      if (processUploads) this.#line(marker);
      this.#startWaiting();
    }
  }

  #workOn(marker: JobMarker): Promise<void> {
    return new Promise((resolve) => {
      this.#line(marker, resolve);
      this.#startWaiting();
    });
  }

  async #waitingAnywhere(): Promise<number> {
    try {
      return Math.max(this.#waiting.size, (await this.#queue?.waiting()) ?? 0);
    } catch (error) {
      this.#context.settings.onError(error);
      return this.#waiting.size;
    }
  }
}

/** Rings once, at the earliest of the requested times. Does not keep the process alive. */
class Alarm {
  readonly #ring: () => void;
  #timer: NodeJS.Timeout | undefined;
  #ringsAt = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(ring: () => void) {
    this.#ring = ring;
  }

  within(ms: number): void {
    const at = performance.now() + ms;
    if (this.#isClosed || at >= this.#ringsAt) return;
    this.#ringsAt = at;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#ringsAt = Number.POSITIVE_INFINITY;
      this.#ring();
    }, ms).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}

function closing(): Error {
  return new Error("The service is closing");
}
