import type { ListEnd } from "@outrigger/core/lookup";
import type { SqlDriver } from "../driver/sql-driver.ts";
import { countDone } from "./finish-rows.ts";

/** Factor of the time limit: many rows may be erased at once. */
const PATIENCE = 5;

/** Erases the rows of an address or domain; see `VerificationQueue`. */
export async function eraseRows(
  driver: SqlDriver,
  subject: string,
  result: string,
  end: ListEnd | undefined,
): Promise<number> {
  const [covered, ...values] = coveredBy(subject);
  return await driver.write(
    async (runner) => {
      const waiting = await runner.all<{ list: number }>(
        `UPDATE lookup_verification_rows SET due_at = NULL WHERE due_at IS NOT NULL AND ${covered} RETURNING list`,
        values,
      );
      const singles = await runner.first<{ count: number }>(
        `SELECT count(*) AS count FROM lookup_verification_rows
         WHERE ${covered} AND list IN (SELECT seq FROM lookup_verification_lists WHERE is_single = 1)`,
        values,
      );
      await countDone(runner, waiting, end);
      const next = `$${values.length + 1}`;
      const erased = await runner.run(
        `UPDATE lookup_verification_rows SET email = '', subject = NULL, cells = NULL, result = ${next} WHERE ${covered}`,
        [...values, result],
      );
      return erased + (singles?.count ?? 0);
    },
    { isErasure: true, timeoutMs: driver.timeoutMs * PATIENCE },
  );
}

/** A condition with its values; addresses with a tag are covered by the one without. */
export function coveredBy(subject: string): [string, ...string[]] {
  if (subject.includes("@")) {
    const key = subjectKey(subject);
    // In byte order the comma follows the plus sign.
    return ["(subject = $1 OR (subject >= $2 AND subject < $3))", key, `${key}+`, `${key},`];
  }
  const domain = reversed(subject);
  // In byte order A follows the at sign, and the slash follows the dot.
  return [
    "((subject >= $1 AND subject < $2) OR (subject >= $3 AND subject < $4))",
    ...[`${domain}@`, `${domain}A`, `${domain}.`, `${domain}/`],
  ];
}

/** An address with its domain first, the labels in reverse order: `com.example@ada`. */
export function subjectKey(address: string): string {
  const at = address.lastIndexOf("@");
  return `${reversed(address.slice(at + 1))}@${address.slice(0, at)}`;
}

/** The address of {@link subjectKey}. */
export function addressOf(key: string): string {
  const at = key.indexOf("@");
  return `${key.slice(at + 1)}@${reversed(key.slice(0, at))}`;
}

function reversed(domain: string): string {
  return domain.split(".").reverse().join(".");
}
