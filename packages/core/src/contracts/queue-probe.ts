/** Optional ability of a renderer: tells how much it has to do. */
export interface QueueProbe {
  /** Pictures at this moment: those that wait for a worker, and those that one has begun. */
  queue(): { waiting: number; running: number };
}

export function hasQueueProbe(renderer: object): renderer is QueueProbe {
  return "queue" in renderer;
}
