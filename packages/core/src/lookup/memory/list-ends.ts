import type {
  ListEnd,
  ListEnds,
  SettledEnd,
  TakenEnd,
  VerificationList,
} from "../../contracts/verification-queue.ts";

/** A list in memory, with its event. */
export interface EndedList extends Omit<VerificationList, "total"> {
  isSingle: boolean;
  rows: readonly unknown[];
  /** Absent: a row has no result, or the list has no event. */
  end?: Pick<ListEnd, "at"> & SettledEnd;
}

/** Adds the event if every row has a result. */
export function endIfDone(list: EndedList, end: ListEnd | undefined): void {
  if (end === undefined || list.isSingle || list.done < list.rows.length) return;
  list.end = { ...end, dueMs: end.at, isDead: false };
}

/** See `VerificationQueue.takeEnds`. */
export function takeDue(
  lists: readonly EndedList[],
  limit: number,
  leaseMs: number,
  nowMs: number,
): TakenEnd[] {
  const leaseUntilMs = nowMs + leaseMs;
  const due = lists.flatMap(({ end, ...list }) =>
    end === undefined || end.dueMs === null || end.dueMs > nowMs ? [] : [{ ...list, end, dueMs: end.dueMs }],
  );
  return due
    .sort((a, b) => a.dueMs - b.dueMs)
    .slice(0, limit)
    .map(({ id, account, rows, end }) => {
      end.dueMs = leaseUntilMs;
      return { list: id, account, total: rows.length, at: end.at, state: end.state, leaseUntilMs };
    });
}

/** See `VerificationQueue.countEnds`. */
export function countAll(lists: readonly EndedList[]): ListEnds {
  const ends = lists.flatMap(({ end }) => end ?? []);
  const times = ends.flatMap(({ at, dueMs }) => (dueMs === null ? [] : [at]));
  const dead = ends.filter(({ isDead }) => isDead).length;
  return { waiting: times.length, oldestAt: times.length === 0 ? null : Math.min(...times), dead };
}
