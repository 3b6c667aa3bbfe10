import type { Answer } from "./image-client.ts";

/** One disturbed request, and the conditions that must hold after it. */
export interface Attempt {
  /** `null`: the connection ended before the reply. */
  run(): Promise<Answer | null>;
  /**
   * For a success: whether it promises that this path (below the data directory) was flushed, although one flush failed
   * with `error`.
   */
  needs(path: string, error: string): boolean;
  /**
   * Faults visible afterwards at `base`: in the current state, and in the reply to the request that a client would send
   * next.
   */
  check(base: string, answer: Answer | null): Promise<string[]>;
}

/** Prepares an attempt on the host at `base`; it may read the host's data directory. */
export type Operation = (base: string, directory: string) => Promise<Attempt>;

/** Whether a reply, if any, reports success. */
export function isDone(answer: Answer | null): boolean {
  return answer !== null && answer.status < 300;
}
