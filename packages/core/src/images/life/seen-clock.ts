import type { DueEntry } from "../../contracts/due-index.ts";
import type { DueList } from "../../stores/due-list.ts";

/** What the wall clock said when a process on this storage last believed it: survives the processes. */
export interface SeenClock {
  /** Unix milliseconds; `null`: nobody has noted it yet. */
  last(): Promise<number | null>;
  note(nowMs: number): Promise<void>;
}

const ID = "seen";
const MAX_PROCESSES = 1000;

/** Keeps the time as an entry of a list of its own: what replaces itself every minute is no blob. */
export function createSeenClock(list: DueList): SeenClock {
  const entries = (): Promise<DueEntry[]> => list.due(Number.POSITIVE_INFINITY, MAX_PROCESSES);
  return {
    async last() {
      return (await entries()).at(-1)?.dueMs ?? null;
    },
    async note(nowMs) {
      const before = await entries();
      await list.add({ id: ID, dueMs: nowMs });
      for (const entry of before) if (entry.dueMs < nowMs) await list.remove(entry);
    },
  };
}
