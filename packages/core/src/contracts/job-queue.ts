/** An upload that waits to be processed. */
export interface Job {
  /** Of its image: `[A-Za-z0-9_-]{22}`. */
  id: string;
  /** Unix milliseconds. */
  createdAt: number;
}

/**
 * Hands jobs to workers of this process or others. The images' records are what counts: a lost job is found again within
 * 30 s, and of two workers on one job one is rejected. Rejects with `store_unavailable`.
 */
export interface JobQueue {
  /** Makes a job known to one of the workers. A job whose ID waits already changes nothing. */
  enqueue(job: Job): Promise<void>;
  /**
   * Hands jobs out from now on, at most `atOnce` at a time, an integer of at least 1; called at most once. A job is over when
   * `handler` resolves; it never rejects. A job whose worker dies may be handed out again or not.
   */
  work(handler: (job: Job) => Promise<void>, atOnce: number): void;
  /** How many jobs wait for any worker. */
  waiting(): Promise<number>;
  /** Hands out no more jobs, waits for the handlers under way, then releases what the queue holds. Calling it twice is allowed. */
  close(): Promise<void>;
}
