import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Job, JobQueue } from "@outrigger/core/stores";
import { assertRejects } from "./blob-store/scope.ts";
import type { ConformanceTest } from "./conformance-test.ts";
import { assertRecognised } from "./foreign-copy.ts";
import { byId, createGate, someJobs, twoJobs, until } from "./job-queue/scope.ts";

export interface JobQueueContractOptions {
  /**
   * Opens another queue on the backend of the first, as another process would. @default none: a queue ends
   * with its process
   */
  openAnother?: (queue: JobQueue) => Promise<JobQueue>;
}

type QueueTest = (name: string, body: (queue: JobQueue) => Promise<void>) => void;

/**
 * Tests that a queue fulfils the {@link JobQueue} contract.
 *
 * @param test The `test` or `it` of any runner, whose time limit should be at least 30 s.
 * @param create Creates an empty queue without other workers.
 */
export function jobQueueContract(
  test: ConformanceTest,
  create: () => Promise<JobQueue>,
  { openAnother }: JobQueueContractOptions = {},
): void {
  const check: QueueTest = (name, body) =>
    test(`job queue: ${name}`, async () => {
      const queue = await create();
      try {
        await body(queue);
      } finally {
        await queue.close();
      }
    });
  orderBehaviour(check);
  waitingBehaviour(check);
  closeBehaviour(check);
  if (openAnother === undefined) return;
  sharingBehaviour((name, body) =>
    check(name, async (queue) => {
      const other = await openAnother(queue);
      try {
        await body(queue, other);
      } finally {
        await other.close();
      }
    }),
  );
}

function orderBehaviour(check: QueueTest): void {
  check("jobs enqueued before and after work() are each handed out once", async (queue) => {
    const jobs = someJobs(120);
    const handled: Job[] = [];
    await Promise.all(jobs.slice(0, 60).map((job) => queue.enqueue(job)));
    queue.work(async (job) => {
      handled.push(job);
      await delay(1);
    }, 4);
    await Promise.all(jobs.slice(60).map((job) => queue.enqueue(job)));
    await until(async () => handled.length >= jobs.length && (await queue.waiting()) === 0);
    assert.deepEqual(byId(handled), byId(jobs));
  });

  check("jobs are handed out oldest first", async (queue) => {
    const jobs = someJobs(10);
    const handled: Job[] = [];
    for (const job of jobs) await queue.enqueue(job);
    queue.work(async (job) => void handled.push(job), 1);
    await until(async () => handled.length === jobs.length);
    assert.deepEqual(handled, jobs);
  });

  check("work() hands out atOnce jobs at a time, and no more", async (queue) => {
    const atOnce = 3;
    const jobs = someJobs(12);
    let running = 0;
    let mostRunning = 0;
    let handled = 0;
    const gate = createGate();
    queue.work(async () => {
      running++;
      mostRunning = Math.max(mostRunning, running);
      await gate.opened;
      await delay(5);
      running--;
      handled++;
    }, atOnce);
    for (const job of jobs) await queue.enqueue(job);
    await until(async () => running === atOnce);
    gate.open();
    await until(async () => handled === jobs.length);
    assert.equal(mostRunning, atOnce);
  });
}

function waitingBehaviour(check: QueueTest): void {
  check("waiting() counts waiting jobs, not running ones", async (queue) => {
    const gate = createGate();
    assert.equal(await queue.waiting(), 0);
    for (const job of someJobs(5)) await queue.enqueue(job);
    assert.equal(await queue.waiting(), 5);
    let begun = 0;
    queue.work(() => {
      begun++;
      return gate.opened;
    }, 2);
    await until(async () => begun === 2 && (await queue.waiting()) === 3);
    gate.open();
    await until(async () => begun === 5 && (await queue.waiting()) === 0);
  });

  check("enqueuing a waiting job again changes nothing", async (queue) => {
    const [job, last] = twoJobs();
    const handled: Job[] = [];
    await queue.enqueue(job);
    await queue.enqueue({ ...job, createdAt: job.createdAt + 1 });
    await Promise.all(Array.from({ length: 10 }, () => queue.enqueue(job)));
    assert.equal(await queue.waiting(), 1);
    await queue.enqueue(last);
    queue.work(async (each) => void handled.push(each), 1);
    await until(async () => handled.length >= 2 && (await queue.waiting()) === 0);
    assert.deepEqual(handled, [job, last]);
  });

  check("a finished job can be enqueued again", async (queue) => {
    const [job] = twoJobs();
    let handled = 0;
    queue.work(async () => void handled++, 1);
    for (let turn = 1; turn <= 3; turn++) {
      // The queue may notice the end of a job a moment after its handler resolved.
      await until(async () => {
        if (handled < turn) await queue.enqueue(job);
        return handled >= turn;
      });
    }
  });
}

function closeBehaviour(check: QueueTest): void {
  check("close() waits for running handlers and hands out nothing more", async (queue) => {
    const gate = createGate();
    const begun: Job[] = [];
    let isOver = false;
    let isClosed = false;
    for (const job of someJobs(6)) await queue.enqueue(job);
    queue.work(async (job) => {
      begun.push(job);
      await gate.opened;
      isOver = true;
    }, 2);
    await until(async () => begun.length === 2);
    const closing = queue.close().then(() => {
      isClosed = true;
    });
    await delay(50);
    assert.equal(isClosed, false);
    gate.open();
    await closing;
    assert.equal(isOver, true);
    await delay(50);
    assert.equal(begun.length, 2);
  });

  check(
    "enqueue rejects with store_unavailable after close, and close may be called twice",
    async (queue) => {
      const [job] = twoJobs();
      queue.work(async () => undefined, 1);
      await queue.enqueue(job);
      await Promise.all([queue.close(), queue.close()]);
      await queue.close();
      await assertRejects(() => queue.enqueue(job), "store_unavailable", "enqueue");
      await assertRejects(() => queue.waiting(), "store_unavailable", "waiting");
    },
  );

  check("failures are errors that another copy of core recognises", async (queue) => {
    await queue.close();
    await assertRecognised(() => queue.waiting(), "store_unavailable");
  });

  check("a queue can be closed before work() is called", async (queue) => {
    await queue.enqueue(twoJobs()[0]);
    await queue.close();
    await assertRejects(() => queue.waiting(), "store_unavailable");
  });

  check("a job enqueued during close() is not handed out", async (queue) => {
    const gate = createGate();
    let begun = 0;
    queue.work(() => {
      begun++;
      return gate.opened;
    }, 4);
    const [job, late] = twoJobs();
    await queue.enqueue(job);
    await until(async () => begun === 1);
    const closing = queue.close();
    await assertRejects(() => queue.enqueue(late), "store_unavailable");
    gate.open();
    await closing;
    assert.equal(begun, 1);
  });
}

function sharingBehaviour(
  check: (name: string, body: (one: JobQueue, other: JobQueue) => Promise<void>) => void,
): void {
  check("two workers share the jobs, and each job is handed out once", async (one, other) => {
    const jobs = someJobs(100);
    const handled: Job[] = [];
    const queues = [one, other];
    for (const queue of queues) queue.work(async (job) => void handled.push(job), 3);
    await Promise.all(jobs.map((job, index) => (queues[index % 2] ?? one).enqueue(job)));
    await until(async () => handled.length >= jobs.length && (await one.waiting()) === 0);
    assert.deepEqual(byId(handled), byId(jobs));
  });

  check("an idle worker receives the jobs for which another is too busy", async (one, other) => {
    const gate = createGate();
    const begun: string[] = [];
    for (const [name, queue] of Object.entries({ one, other })) {
      queue.work(() => {
        begun.push(name);
        return gate.opened;
      }, 1);
    }
    for (const job of twoJobs()) await one.enqueue(job);
    await until(async () => begun.length === 2);
    gate.open();
    assert.deepEqual(begun.toSorted(), ["one", "other"]);
  });

  check("a worker receives jobs that another queue object enqueued", async (one, other) => {
    const [job] = twoJobs();
    const handled: Job[] = [];
    other.work(async (each) => void handled.push(each), 1);
    await one.enqueue(job);
    await until(async () => handled.length === 1);
    assert.deepEqual(handled, [job]);
    assert.equal(await one.waiting(), 0);
  });

  check("jobs that a closing queue has not handed out go to other workers", async (one, other) => {
    const jobs = someJobs(6);
    const gate = createGate();
    const handled: Job[] = [];
    one.work(async (job) => {
      handled.push(job);
      await gate.opened;
    }, 1);
    for (const job of jobs) await other.enqueue(job);
    await until(async () => handled.length === 1);
    const closing = one.close();
    gate.open();
    await closing;
    assert.equal(handled.length, 1);
    assert.equal(await other.waiting(), 5);
    other.work(async (job) => void handled.push(job), 1);
    await until(async () => handled.length === jobs.length);
    assert.deepEqual(byId(handled), byId(jobs));
  });
}
