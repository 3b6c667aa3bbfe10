/** An upload that waits for processing. */
export interface Job {
  /** ID of its image: `[A-Za-z0-9_-]{22}`. */
  id: string;
  /** Unix milliseconds. */
  createdAt: number;
}

/**
 * Hands jobs to workers in this or other processes. The image records are the source of truth: a lost job is
 * found again within 30 s. If two workers take the same job, the write of one is rejected. Rejects with
 * `store_unavailable`.
 */
export interface JobQueue {
  /** Adds a job for any worker. If a job with this ID already waits, nothing changes. */
  enqueue(job: Job): Promise<void>;
  /**
   * Starts handing out jobs, at most `atOnce` at a time (an integer of at least 1). Called at most once. A
   * job ends when `handler` resolves; the handler never rejects. If a worker dies, its job may be handed out
   * again or not.
   */
  work(handler: (job: Job) => Promise<void>, atOnce: number): void;
  /** Number of jobs that wait for a worker. */
  waiting(): Promise<number>;
  /**
   * Stops handing out jobs, waits for running handlers, then releases the queue's resources. Calling it twice
   * is allowed.
   */
  close(): Promise<void>;
}
