import { sharesOf, type TakenVerification } from "@outrigger/core/lookup";
import type { SqlDriver, SqlRunner } from "../driver/sql-driver.ts";

/** Advisory lock of transactions that take rows: an arbitrary number that other software is unlikely to use. */
const TAKE_LOCK = 7_310_411_903;

interface WaitingAccount {
  account: string;
  /** When its first row is due; `null` if none waits. */
  due: number | null;
}

interface TakenRow {
  list: number;
  position: number;
  email: string;
  attempts: number;
}

interface ListRow {
  seq: number;
  id: string;
  account: string;
  plan: string;
  created_at: number;
}

/** Takes rows that are due; see `VerificationQueue`. */
export async function takeRows(
  driver: SqlDriver,
  limit: number,
  leaseMs: number,
  nowMs: number,
): Promise<{ rows: TakenVerification[]; nextDueMs: number | null }> {
  const before = await waitingAccounts(driver);
  if (!before.some((each) => isDue(each, nowMs))) return { rows: [], nextDueMs: nextOf(before) };
  return await driver.write(async (runner) => {
    const { kind } = driver.dialect;
    // In an embedded database this is the only writer.
    if (kind === "postgres") await runner.first(`SELECT pg_advisory_xact_lock(${TAKE_LOCK})`);
    const due = (await waitingAccounts(runner)).filter((each) => isDue(each, nowMs));
    const take = (account: string, count: number) =>
      leaseRows(runner, kind, { account, count, nowMs, leaseMs });
    const served = due.slice(0, limit);
    const { shares, order } = sharesOf(limit, served.length);
    const taken: TakenRow[] = [];
    for (const [index, { account }] of served.entries())
      taken.push(...(await take(account, shares[index] ?? 0)));
    // Some accounts may have had fewer rows than their share.
    for (const { account } of due) {
      if (taken.length < limit) taken.push(...(await take(account, limit - taken.length)));
    }
    const accounts = order.flatMap((index) => served[index]?.account ?? []);
    await moveToEnd(runner, accounts);
    const rows = await withLists(driver, runner, taken);
    return { rows, nextDueMs: nextOf(await waitingAccounts(runner)) };
  });
}

/** All accounts, the one that was served longest ago first. */
function waitingAccounts(runner: SqlRunner): Promise<WaitingAccount[]> {
  return runner.all<WaitingAccount>(
    `SELECT t.account, (
       SELECT r.due_at FROM lookup_verification_rows r
       WHERE r.account = t.account AND r.due_at IS NOT NULL ORDER BY r.due_at LIMIT 1
     ) AS due FROM lookup_verification_turns t ORDER BY t.turn`,
  );
}

function isDue({ due }: WaitingAccount, nowMs: number): boolean {
  return due !== null && due <= nowMs;
}

function nextOf(accounts: readonly WaitingAccount[]): number | null {
  return accounts.reduce<number | null>(
    (next, { due }) => (due === null || (next !== null && next <= due) ? next : due),
    null,
  );
}

function leaseRows(
  runner: SqlRunner,
  kind: "sqlite" | "postgres",
  { account, count, nowMs, leaseMs }: { account: string; count: number; nowMs: number; leaseMs: number },
): Promise<TakenRow[]> {
  // Rows that another process finishes at this moment are locked.
  const lock = kind === "postgres" ? "FOR UPDATE SKIP LOCKED" : "";
  return runner.all<TakenRow>(
    `UPDATE lookup_verification_rows SET due_at = $4 WHERE (list, position) IN (
       SELECT list, position FROM lookup_verification_rows
       WHERE account = $1 AND due_at <= $2 ORDER BY due_at, spot LIMIT $3 ${lock}
     ) RETURNING list, position, email, attempts`,
    [account, nowMs, count, nowMs + leaseMs],
  );
}

async function moveToEnd(runner: SqlRunner, accounts: readonly string[]): Promise<void> {
  const last = await runner.first<{ turn: number }>(
    "SELECT max(turn) AS turn FROM lookup_verification_turns",
  );
  for (const [index, account] of accounts.entries()) {
    await runner.run("UPDATE lookup_verification_turns SET turn = $2 WHERE account = $1", [
      account,
      (last?.turn ?? 0) + index + 1,
    ]);
  }
}

/** Adds the facts of their lists, and marks these as started. */
async function withLists(
  { dialect }: SqlDriver,
  runner: SqlRunner,
  taken: readonly TakenRow[],
): Promise<TakenVerification[]> {
  const seqs = JSON.stringify([...new Set(taken.map(({ list }) => list))].map(String));
  const among = `seq IN (SELECT CAST(value AS bigint) FROM ${dialect.strings("$1")} AS given)`;
  await runner.run(`UPDATE lookup_verification_lists SET is_started = 1 WHERE is_started = 0 AND ${among}`, [
    seqs,
  ]);
  const lists = await runner.all<ListRow>(
    `SELECT seq, id, account, plan, created_at FROM lookup_verification_lists WHERE ${among}`,
    [seqs],
  );
  const bySeq = new Map(lists.map((list) => [list.seq, list]));
  return taken.flatMap(({ list: seq, position, email, attempts }) => {
    const list = bySeq.get(seq);
    if (list === undefined) return [];
    const { id, account, plan, created_at: createdAt } = list;
    return [
      { list: id, account: account === "" ? null : account, plan, createdAt, position, email, attempts },
    ];
  });
}
