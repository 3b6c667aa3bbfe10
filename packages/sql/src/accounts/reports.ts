import type { MailReport } from "@outrigger/core/lookup";
import type { SqlDriver } from "../driver/sql-driver.ts";
import { addressOf, coveredBy, subjectKey } from "../verifications/erase-rows.ts";

/** Reports kept of one account. */
const MAX_REPORTS = 1_000_000;
/** Reports of the operator, and of accounts, that one call deletes, so that it ends in time. */
const MAX_REMOVED = 5000;

/** Stores a report. @param isTrimming whether those over the maximum are deleted, too. The operator's have an empty account. */
export async function addReport(driver: SqlDriver, report: MailReport, isTrimming: boolean): Promise<void> {
  const { address, kind, at } = report;
  const account = report.account ?? "";
  await driver.run(
    `INSERT INTO lookup_reports (subject, account, kind, made_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (subject, account) DO UPDATE SET kind = $3, made_at = $4`,
    [subjectKey(address), account, kind, at],
  );
  if (!isTrimming) return;
  const trimmed = driver.run(
    `DELETE FROM lookup_reports WHERE account = $1 AND made_at <= (
       SELECT made_at FROM lookup_reports WHERE account = $1 ORDER BY made_at DESC LIMIT 1 OFFSET ${MAX_REPORTS})`,
    [account],
  );
  // The report is stored, and a later one trims again.
  await trimmed.catch(() => undefined);
}

/** Deletes expired reports; see `Accounts`. */
export async function removeReports(
  driver: SqlDriver,
  beforeMs: number,
  expire: (report: MailReport) => Promise<void>,
): Promise<void> {
  const shared = await driver.all<Pick<MailReport, "kind" | "at"> & { subject: string }>(
    `SELECT subject, kind, made_at AS at FROM lookup_reports
     WHERE account = '' AND made_at < $1 ORDER BY made_at LIMIT ${MAX_REMOVED}`,
    [beforeMs],
  );
  for (const { subject, kind, at } of shared) {
    await expire({ address: addressOf(subject), account: null, kind, at });
    const text = "DELETE FROM lookup_reports WHERE subject = $1 AND account = '' AND made_at = $2";
    await driver.run(text, [subject, at]);
  }
  const own = `SELECT subject, account FROM lookup_reports WHERE account <> '' AND made_at < $1
    ORDER BY made_at LIMIT ${MAX_REMOVED}`;
  await driver.run(`DELETE FROM lookup_reports WHERE (subject, account) IN (${own})`, [beforeMs]);
}

export async function findReports(driver: SqlDriver, address: string, account: string, sinceMs: number) {
  const rows = await driver.all<MailReport & { account: string }>(
    `SELECT account, kind, made_at AS at FROM lookup_reports
     WHERE subject = $1 AND account IN ('', $2) AND made_at >= $3 ORDER BY made_at DESC, account DESC`,
    [subjectKey(address), account, sinceMs],
  );
  return rows.map((row): MailReport => ({ ...row, address, account: row.account || null }));
}

export async function eraseReports(driver: SqlDriver, subject: string): Promise<number> {
  const [covered, ...values] = coveredBy(subject);
  const text = `DELETE FROM lookup_reports WHERE ${covered}`;
  return driver.write((runner) => runner.run(text, values), {
    isErasure: true,
    timeoutMs: 5 * driver.timeoutMs,
  });
}
