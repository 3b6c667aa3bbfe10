import { randomUUID } from "node:crypto";
import type { JobQueue } from "../../contracts/job-queue.ts";
import { ServiceError } from "../../errors.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { createAlarm } from "./alarm.ts";
import { finishUpload, type Outcome, type UploadWork } from "./finish-upload.ts";
import type { JobMarker } from "./job-markers.ts";
import { holdLease } from "./lease.ts";
import type { ProcessingContext } from "./processing-context.ts";
import { resumeUpload } from "./resume-upload.ts";
import { LEASE_MS } from "./transitions.ts";

/** The work of this process on uploads whose clients were told 202, and on what other processes left undone. */
export interface Jobs {
  /** Name of this process in leases. */
  readonly worker: string;
  /** Uploads in line in this process. */
  readonly waiting: number;
  /** Begins to look for pending work. */
  start(): void;
  /** Rejects with `overloaded` when so much waits that no more should be accepted. */
  requireRoom(): Promise<void>;
  /** Puts a stored upload in line, here or where the queue's workers are, if it is not there. */
  enqueue(marker: JobMarker): void;
  /**
   * Takes over work that has begun, with the lease that `current` was written with.
   * @param controller gives up the admission when aborted.
   */
  takeOver(current: CurrentRecord, work: UploadWork, controller: AbortController): void;
  /** Gives up the work of this process on an image that was deleted, and removes what is left of it. */
  cancel(marker: JobMarker): void;
  /** Takes no more work, gives up what waits for the renderer, and resolves when every lease is given back. Ends the queue. */
  close(): Promise<void>;
}

/** A job that waits for its turn in this process. */
interface Waiting {
  marker: JobMarker;
  /** Called when it is over, or given up. */
  over(): void;
}

/** Jobs from the line at a time; more would crowd out clients who wait for an answer. */
const MAX_AT_ONCE = 2;
const MAX_WAITING = 1000;
/** Pause after a job that could not be done for reasons outside of it: the next would fare alike. */
const PAUSE_MS = 2_000;
/** How often to look for work that others left: while there is some, and while there is none. */
const LOOK_MS = 5_000;
const IDLE_LOOK_MS = 30_000;

/** @param queue where jobs are lined up for all processes; `null`: each has a line of its own. */
export function createJobs(context: ProcessingContext, queue: JobQueue | null): Jobs {
  const { now, onError, processUploads } = context.settings;
  const worker = randomUUID();
  /** In the order in which they came. */
  const waiting = new Map<string, Waiting>();
  const underWay = new Map<string, AbortController>();
  const tasks = new Set<Promise<void>>();
  let running = 0;
  let isPaused = false;
  let isClosed = false;
  let pauseTimer: NodeJS.Timeout | undefined;
  const lookout = createAlarm(() => track(look()));

  /** Runs `task` until it is over, as the one thing that is done here about an image. */
  function run(id: string, controller: AbortController, task: () => Promise<void>): void {
    underWay.set(id, controller);
    track(task().finally(() => underWay.delete(id)));
  }

  function startWaiting(): void {
    for (const [id, { marker, over }] of waiting) {
      if (isClosed || isPaused || running >= MAX_AT_ONCE) return;
      waiting.delete(id);
      running++;
      const controller = new AbortController();
      run(id, controller, async () => {
        const outcome = await resumeUpload(context, worker, marker, controller);
        running--;
        over();
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
    if (processUploads) lookout.within(LOOK_MS);
  }

  function track(task: Promise<void>): void {
    const tracked = task.finally(() => tasks.delete(tracked));
    tasks.add(tracked);
  }

  async function look(): Promise<void> {
    let found = 0;
    try {
      await context.guard.open();
      const markers = await context.markers.list(MAX_WAITING);
      found = markers.length;
      // What is new, the queue hands out: to look at it here too would only be in the way of who works on it.
      const untilMs = queue === null ? Number.POSITIVE_INFINITY : now() - LEASE_MS;
      for (const marker of markers) if (marker.createdAt <= untilMs) line(marker);
    } catch (error) {
      onError(error);
    }
    lookout.within(found > 0 ? LOOK_MS : IDLE_LOOK_MS);
    startWaiting();
  }

  /** @param over Called when the job is over here, at once where it is not to be lined up. */
  function line({ id, createdAt }: JobMarker, over: () => void = () => undefined): void {
    if (isClosed || underWay.has(id) || waiting.has(id) || waiting.size >= MAX_WAITING) over();
    else waiting.set(id, { marker: { id, createdAt }, over });
  }

  async function enqueueForAll(all: JobQueue, marker: JobMarker): Promise<void> {
    try {
      await all.enqueue(marker);
    } catch (error) {
      onError(error);
      // Processes that work find it by its marker, this one at once.
      if (processUploads) line(marker);
      startWaiting();
    }
  }

  function workOn(marker: JobMarker): Promise<void> {
    return new Promise((resolve) => {
      line(marker, resolve);
      startWaiting();
    });
  }

  async function waitingAnywhere(): Promise<number> {
    try {
      return Math.max(waiting.size, (await queue?.waiting()) ?? 0);
    } catch (error) {
      onError(error);
      return waiting.size;
    }
  }

  return {
    worker,
    get waiting() {
      return waiting.size;
    },
    start() {
      if (!processUploads) return;
      lookout.within(0);
      queue?.work(workOn, MAX_AT_ONCE);
    },
    async requireRoom() {
      if ((await waitingAnywhere()) < MAX_WAITING) return;
      throw new ServiceError("overloaded", "Too many uploads are waiting to be processed", {
        retryAfterMs: LOOK_MS,
      });
    },
    enqueue({ id, createdAt }) {
      if (queue !== null) {
        track(enqueueForAll(queue, { id, createdAt }));
        return;
      }
      if (processUploads) line({ id, createdAt });
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
      waiting.get(marker.id)?.over();
      waiting.delete(marker.id);
      const controller = underWay.get(marker.id);
      // Whoever works on it finds the lease lost, and removes what is left.
      if (controller !== undefined) controller.abort(new Error("The image was deleted"));
      else line(marker);
      startWaiting();
    },
    async close() {
      isClosed = true;
      lookout.close();
      clearTimeout(pauseTimer);
      for (const { over } of waiting.values()) over();
      waiting.clear();
      for (const controller of underWay.values()) controller.abort(closing());
      while (tasks.size > 0) await Promise.all(tasks);
      await queue?.close();
    },
  };
}

function closing(): Error {
  return new Error("The service is closing");
}
