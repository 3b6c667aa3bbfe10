import { type Charge, RESERVATION_MS, type ReserveResult } from "@outrigger/core/lookup";
import type { SqlDriver, SqlRunner } from "../driver/sql-driver.ts";

const OF_REQUEST = "account = $1 AND month = $2 AND kind = $3 AND request = $4";
const KNOWN = `SELECT points FROM lookup_charges WHERE ${OF_REQUEST} AND (reserved_at IS NULL OR reserved_at > $5)`;
const OF_MONTH = "account = $1 AND month = $2 AND kind = $3";

/** The points of the same request, and those that the account has used, reservations included. */
const PREVIEW = `
  SELECT (${KNOWN}) AS known, coalesce((SELECT settled FROM lookup_usage WHERE ${OF_MONTH}), 0) + coalesce((
    SELECT sum(points) FROM lookup_charges WHERE ${OF_MONTH} AND reserved_at IS NOT NULL AND reserved_at > $5
  ), 0) AS used`;

/** What a reservation would return; see `Accounts`. */
export async function previewIn(
  runner: SqlRunner,
  { account, month, kind, request }: Charge,
  points: number,
  allowance: number,
  nowMs: number,
): Promise<ReserveResult> {
  const values = [account, month, kind, request, nowMs - RESERVATION_MS];
  const row = await runner.first<{ known: number | null; used: number }>(PREVIEW, values);
  if (row !== undefined && row.known !== null) return { outcome: "repeat", points: row.known };
  const granted = Math.min(points, allowance - (row?.used ?? 0));
  return granted < 1 ? { outcome: "exhausted" } : { outcome: "reserved", points: granted };
}

/** Charges points without a reservation before; see `Accounts`. */
export async function chargeIn(
  driver: SqlDriver,
  charge: Charge,
  points: number,
  allowance: number,
  nowMs: number,
): Promise<ReserveResult> {
  const terms = termsOf(points, allowance, nowMs);
  if (driver.dialect.kind === "sqlite") {
    return await driver.write((runner) => reserveHere(runner, charge, { ...terms, isSettled: true }));
  }
  // The functions are volatile: the second one sees what the first one wrote.
  const settle = "CASE WHEN outcome = 'reserved' THEN lookup_settle($1, $2, $3, $4, granted) END";
  return await reserveThere(driver, charge, terms, `outcome, granted, ${settle}`);
}

/** Reserves points; see `Accounts`. */
export async function reserveIn(
  driver: SqlDriver,
  charge: Charge,
  points: number,
  allowance: number,
  nowMs: number,
): Promise<ReserveResult> {
  const { account, month, kind, request } = charge;
  const terms = termsOf(points, allowance, nowMs);
  if (driver.dialect.kind === "sqlite") {
    // Finds most repeated requests without a write and without waiting for the writer.
    const values = [account, month, kind, request, terms.lapsedMs];
    const known = await driver.first<{ points: number }>(KNOWN, values);
    if (known !== undefined) return { outcome: "repeat", points: known.points };
    return await driver.write((runner) => reserveHere(runner, charge, { ...terms, isSettled: false }));
  }
  return await reserveThere(driver, charge, terms, "outcome, granted");
}

interface Terms {
  points: number;
  allowance: number;
  nowMs: number;
  lapsedMs: number;
  /** `YYYY-MM` */
  forgetBefore: string;
}

function termsOf(points: number, allowance: number, nowMs: number): Terms {
  return { points, allowance, nowMs, lapsedMs: nowMs - RESERVATION_MS, forgetBefore: previousMonth(nowMs) };
}

/** Reserves points in PostgreSQL. @param columns evaluated with the result. */
async function reserveThere(
  driver: SqlDriver,
  { account, month, kind, request }: Charge,
  { points, allowance, nowMs, lapsedMs, forgetBefore }: Terms,
  columns: string,
): Promise<ReserveResult> {
  const row = await driver.first<{ outcome: ReserveResult["outcome"]; granted: number }>(
    `SELECT ${columns} FROM lookup_reserve($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [account, month, kind, request, points, allowance, nowMs, lapsedMs, forgetBefore],
  );
  return row === undefined || row.outcome === "exhausted"
    ? { outcome: "exhausted" }
    : { outcome: row.outcome, points: row.granted };
}

/** Renews reservations; see `Accounts`. */
export async function renewIn(driver: SqlDriver, charges: readonly Charge[], nowMs: number): Promise<void> {
  const rows = charges.map(({ account, month, kind, request }) => [account, month, kind, request]);
  await driver.run(
    `UPDATE lookup_charges SET reserved_at = $2 WHERE reserved_at > $3 AND (account, month, kind, request) IN (
       SELECT each.value->>0, each.value->>1, each.value->>2, each.value->>3 FROM ${driver.dialect.rows("$1")}
     )`,
    [JSON.stringify(rows), nowMs, nowMs - RESERVATION_MS],
  );
}

/** Settles a reservation; see `Accounts`. */
export async function settleIn(driver: SqlDriver, charge: Charge, points: number): Promise<void> {
  const { account, month, kind, request } = charge;
  const values = [account, month, kind, request];
  if (driver.dialect.kind === "postgres") {
    await driver.first("SELECT lookup_settle($1, $2, $3, $4, $5)", [...values, points]);
    return;
  }
  await driver.write(async (runner) => {
    if (points === 0) {
      await runner.run(`DELETE FROM lookup_charges WHERE ${OF_REQUEST} AND reserved_at IS NOT NULL`, values);
      return;
    }
    const settled = await runner.run(
      `UPDATE lookup_charges SET points = $5, reserved_at = NULL WHERE ${OF_REQUEST} AND reserved_at IS NOT NULL`,
      [...values, points],
    );
    if (settled === 0) return;
    await addSettled(runner, [account, month, kind], points);
  });
}

async function addSettled(runner: SqlRunner, ofMonth: readonly string[], points: number): Promise<void> {
  await runner.run(`UPDATE lookup_usage SET settled = settled + $4 WHERE ${OF_MONTH}`, [...ofMonth, points]);
}

/**
 * The equivalent of PostgreSQL's `lookup_reserve`, within the single write transaction of an embedded
 * database.
 */
async function reserveHere(
  runner: SqlRunner,
  charge: Charge,
  terms: Terms & { isSettled: boolean },
): Promise<ReserveResult> {
  const { account, month, kind, request } = charge;
  const { nowMs, lapsedMs, forgetBefore, isSettled } = terms;
  const ofMonth = [account, month, kind];
  const isNew = await runner.run(
    "INSERT INTO lookup_usage (account, month, kind, settled) VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING",
    ofMonth,
  );
  if (isNew > 0) {
    await runner.run(
      `DELETE FROM lookup_charges WHERE account = $1 AND month < $2 AND (reserved_at IS NULL OR reserved_at <= $3)`,
      [account, forgetBefore, lapsedMs],
    );
  }
  const result = await previewIn(runner, charge, terms.points, terms.allowance, nowMs);
  if (result.outcome !== "reserved") return result;
  await runner.run(
    `INSERT INTO lookup_charges (account, month, kind, request, points, reserved_at) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (account, month, kind, request) DO UPDATE SET points = excluded.points, reserved_at = excluded.reserved_at`,
    [...ofMonth, request, result.points, isSettled ? null : nowMs],
  );
  if (isSettled) await addSettled(runner, ofMonth, result.points);
  return result;
}

/** `YYYY-MM` of the month before that of `nowMs`. Older charges are no longer needed. */
function previousMonth(nowMs: number): string {
  const date = new Date(nowMs);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 1)).toISOString().slice(0, 7);
}

/** The points of a month: settled ones, and those of reservations that have not lapsed. */
export async function usageIn(
  driver: SqlDriver,
  account: string,
  month: string,
  nowMs: number,
): Promise<Record<Charge["kind"], number>> {
  const rows = await driver.all<{ kind: Charge["kind"]; points: number }>(
    `SELECT kind, settled + coalesce((
       SELECT sum(points) FROM lookup_charges c WHERE c.account = u.account AND c.month = u.month AND c.kind = u.kind
         AND c.reserved_at IS NOT NULL AND c.reserved_at > $3
     ), 0) AS points FROM lookup_usage u WHERE account = $1 AND month = $2`,
    [account, month, nowMs - RESERVATION_MS],
  );
  const usage = { searches: 0, verifications: 0 };
  for (const { kind, points } of rows) usage[kind] = points;
  return usage;
}
