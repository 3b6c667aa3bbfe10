import type { SqlDriver } from "../driver/sql-driver.ts";

interface Settings {
  fsync: string;
  pages: string;
  commit: string;
  standbys: string;
  isReplicated: boolean;
}

const SETTINGS = `
  SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages,
    current_setting('synchronous_commit') AS commit, current_setting('synchronous_standby_names') AS standbys,
    EXISTS (SELECT FROM pg_stat_replication) AS "isReplicated"`;

/** Settings of the server that make a store lose acknowledged writes, each with its remedy. */
export async function warningsOf(driver: SqlDriver): Promise<string[]> {
  const found = await driver.first<Settings>(SETTINGS);
  if (found === undefined) throw new Error("Unreachable: the statement returns one row");
  const { fsync, pages, commit, standbys, isReplicated } = found;
  const warnings: string[] = [];
  if (fsync !== "on" || pages !== "on") {
    const name = fsync !== "on" ? "fsync" : "full_page_writes";
    warnings.push(
      `The PostgreSQL server runs with ${name} = off: a power cut can destroy the whole database. Set \`${name} = on\`.`,
    );
  }
  if (isReplicated && standbys === "") {
    warnings.push(
      "The PostgreSQL server has standbys but acknowledges writes before any of them has received them: a fail-over loses these writes. " +
        "Set `synchronous_standby_names = 'ANY 1 (*)'`.",
    );
  }
  if (standbys !== "" && commit === "local") {
    warnings.push(
      "The PostgreSQL server acknowledges writes of this user before a standby has received them (synchronous_commit = local): a fail-over loses these writes. " +
        "Set `synchronous_commit = on`.",
    );
  }
  return warnings;
}
