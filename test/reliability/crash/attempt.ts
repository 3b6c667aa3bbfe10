import type { Answer } from "./image-client.ts";

/** One request that is disturbed, and what has to hold after it. */
export interface Attempt {
  /** `null`: the connection ended before the answer did. */
  run(): Promise<Answer | null>;
  /** Whether a success promises that this has been flushed, though that failed once by `error`: a path below the data directory. */
  needs(path: string, error: string): boolean;
  /**
   * What is wrong afterwards as it is seen from `base`: with what stands now, and with the request that a client would
   * send next.
   */
  check(base: string, answer: Answer | null): Promise<string[]>;
}

/** Prepares an attempt on the host at `base`, whose data directory it may look into. */
export type Operation = (base: string, directory: string) => Promise<Attempt>;

/** Whether an answer, if there is one, tells of success. */
export function isDone(answer: Answer | null): boolean {
  return answer !== null && answer.status < 300;
}
