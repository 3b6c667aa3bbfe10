import { randomUUID } from "node:crypto";
import { ServiceError } from "../../errors.ts";
import type { ProcessingContext } from "../image-context.ts";
import type { CurrentRecord } from "../image-records.ts";
import { finishUpload, type Outcome, type UploadWork } from "./finish-upload.ts";
import type { JobMarker } from "./job-markers.ts";
import { holdLease } from "./lease.ts";
import { resumeUpload } from "./resume-upload.ts";

/** The work of this process on uploads whose clients were told 202, and on what other processes left undone. */
export interface Jobs {
  /** Name of this process in leases. */
  readonly worker: string;
  /** Uploads in line. */
  readonly waiting: number;
  /** Begins to look for pending work. */
  start(): void;
  /** Throws `overloaded` when so much waits that no more should be accepted. */
  requireRoom(): void;
  /** Puts a stored upload in line, if it is not there. */
  enqueue(marker: JobMarker): void;
  /**
   * Takes over work that has begun, with the lease that `current` was written with.
   * @param controller gives up the admission when aborted.
   */
  takeOver(current: CurrentRecord, work: UploadWork, controller: AbortController): void;
  /** Gives up the work of this process on an image that was deleted, and removes what is left of it. */
  cancel(marker: JobMarker): void;
  /** Takes no more work, gives up what waits for the renderer, and resolves when every lease is given back. */
  close(): Promise<void>;
}

/** Jobs from the line at a time; more would crowd out clients who wait for an answer. */
const MAX_AT_ONCE = 2;
const MAX_WAITING = 1000;
/** Pause after a job that could not be done for reasons outside of it: the next would fare alike. */
const PAUSE_MS = 2_000;
/** How often to look for work that others left: while there is some, and while there is none. */
const LOOK_MS = 5_000;
const IDLE_LOOK_MS = 30_000;

export function createJobs(context: ProcessingContext): Jobs {
  const worker = randomUUID();
  /** In the order in which they came. */
  const waiting = new Map<string, JobMarker>();
  const underWay = new Map<string, AbortController>();
  const tasks = new Set<Promise<void>>();
  let running = 0;
  let isPaused = false;
  let isClosed = false;
  let pauseTimer: NodeJS.Timeout | undefined;
  let lookTimer: NodeJS.Timeout | undefined;
  let nextLookAt = Number.POSITIVE_INFINITY;

  /** Runs `task` until it is over, as the one thing that is done here about an image. */
  function run(id: string, controller: AbortController, task: () => Promise<void>): void {
    underWay.set(id, controller);
    const ended = task().finally(() => {
      underWay.delete(id);
      tasks.delete(ended);
    });
    tasks.add(ended);
  }

  function startWaiting(): void {
    for (const [id, marker] of waiting) {
      if (isClosed || isPaused || running >= MAX_AT_ONCE) return;
      waiting.delete(id);
      running++;
      const controller = new AbortController();
      run(id, controller, async () => {
        const outcome = await resumeUpload(context, worker, marker, controller);
        running--;
        settle(outcome);
      });
    }
  }

  /** A job to be tried again is found again by its marker, and stands behind those that wait now. */
  function settle(outcome: Outcome): void {
    if (outcome === "again") pause();
    startWaiting();
  }

  function pause(): void {
    isPaused = true;
    clearTimeout(pauseTimer);
    pauseTimer = setTimeout(() => {
      isPaused = false;
      startWaiting();
    }, PAUSE_MS).unref();
    lookWithin(LOOK_MS);
  }

  function lookWithin(ms: number): void {
    const at = performance.now() + ms;
    if (isClosed || at >= nextLookAt) return;
    nextLookAt = at;
    clearTimeout(lookTimer);
    lookTimer = setTimeout(() => {
      nextLookAt = Number.POSITIVE_INFINITY;
      const looked = look().finally(() => tasks.delete(looked));
      tasks.add(looked);
    }, ms).unref();
  }

  async function look(): Promise<void> {
    let found = 0;
    try {
      const markers = await context.markers.list(MAX_WAITING);
      found = markers.length;
      for (const marker of markers) line(marker);
    } catch (error) {
      context.settings.onError(error);
    }
    lookWithin(found > 0 ? LOOK_MS : IDLE_LOOK_MS);
    startWaiting();
  }

  function line({ id, createdAt }: JobMarker): void {
    if (isClosed || underWay.has(id) || waiting.has(id) || waiting.size >= MAX_WAITING) return;
    waiting.set(id, { id, createdAt });
  }

  return {
    worker,
    get waiting() {
      return waiting.size;
    },
    start: () => lookWithin(0),
    requireRoom() {
      if (waiting.size < MAX_WAITING) return;
      throw new ServiceError("overloaded", "Too many uploads are waiting to be processed", {
        retryAfterMs: LOOK_MS,
      });
    },
    enqueue(marker) {
      line(marker);
      startWaiting();
    },
    takeOver(current, work, controller) {
      const lease = holdLease(context, current, controller);
      if (isClosed) controller.abort(closing());
      run(current.record.id, controller, async () => {
        settle(await finishUpload(context, lease, async () => work, controller.signal));
      });
    },
    cancel(marker) {
      waiting.delete(marker.id);
      const controller = underWay.get(marker.id);
      // Whoever works on it finds the lease lost, and removes what is left.
      if (controller !== undefined) controller.abort(new Error("The image was deleted"));
      else line(marker);
      startWaiting();
    },
    async close() {
      isClosed = true;
      clearTimeout(lookTimer);
      clearTimeout(pauseTimer);
      waiting.clear();
      for (const controller of underWay.values()) controller.abort(closing());
      while (tasks.size > 0) await Promise.all(tasks);
    },
  };
}

function closing(): Error {
  return new Error("The service is closing");
}
