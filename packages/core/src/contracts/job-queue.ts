/** An upload that waits to be processed. */
export interface Job {
  /** Of its image: `[A-Za-z0-9_-]{22}`. */
  id: string;
  /** Unix milliseconds. */
  createdAt: number;
}

/**
 * Tells workers, of this process or others, where to look. What there is to be done is told by the images' records: a job that
 * is lost here is found again within half a minute, and of two who do it one is refused. Rejections are `store_unavailable`.
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
