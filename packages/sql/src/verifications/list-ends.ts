import type { ListEnds, SettledEnd, TakenEnd } from "@outrigger/core/lookup";
import type { SqlDriver } from "../driver/sql-driver.ts";

interface EndRow {
  id: string;
  account: string;
  total: number;
  event_at: number;
  event: string;
}

/** Takes events that are due; see `VerificationQueue`. */
export async function takeEnds(
  driver: SqlDriver,
  limit: number,
  leaseMs: number,
  nowMs: number,
): Promise<TakenEnd[]> {
  const due = "SELECT seq FROM lookup_verification_lists WHERE event_due <= $1 ORDER BY event_due";
  // A poll that finds nothing does not wait for other writers.
  if ((await driver.first(`${due} LIMIT 1`, [nowMs])) === undefined) return [];
  const lock = driver.dialect.kind === "postgres" ? "FOR UPDATE SKIP LOCKED" : "";
  const leaseUntilMs = nowMs + leaseMs;
  const rows = await driver.all<EndRow>(
    `UPDATE lookup_verification_lists SET event_due = $2 WHERE seq IN (${due} LIMIT $3 ${lock})
     RETURNING id, account, total, event_at, event`,
    [nowMs, leaseUntilMs, limit],
  );
  return rows.map(({ id, account, total, event_at: at, event: state }) => {
    return { list: id, account: account === "" ? null : account, total, at, state, leaseUntilMs };
  });
}

/** Stores what became of an event; see `VerificationQueue`. */
export async function settleEnd(
  driver: SqlDriver,
  { list, leaseUntilMs }: Pick<TakenEnd, "list" | "leaseUntilMs">,
  { state, dueMs, isDead }: SettledEnd,
): Promise<void> {
  await driver.run(
    `UPDATE lookup_verification_lists SET event = $3, event_due = $4,
       event_dead = CASE WHEN CAST($5 AS integer) = 1 THEN 1 ELSE event_dead END
     WHERE id = $1 AND event_due = $2`,
    [list, leaseUntilMs, state, dueMs, isDead ? 1 : 0],
  );
}

/** Counts the events of all lists; see `VerificationQueue`. */
export async function countEnds(driver: SqlDriver): Promise<ListEnds> {
  const row = await driver.first<{ waiting: number; oldest: number | null; dead: number }>(
    `SELECT count(event_due) AS waiting, min(CASE WHEN event_due IS NOT NULL THEN event_at END) AS oldest,
       coalesce(sum(event_dead), 0) AS dead FROM lookup_verification_lists
     WHERE event_due IS NOT NULL OR event_dead = 1`,
  );
  return { waiting: row?.waiting ?? 0, oldestAt: row?.oldest ?? null, dead: row?.dead ?? 0 };
}
