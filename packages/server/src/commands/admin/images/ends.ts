import { existsSync } from "node:fs";
import type { ImageEnd, StorageAdmin } from "@outrigger/core";
import { isoText } from "../../../cli/amounts.ts";
import { reasonOf } from "../../../cli/error-reason.ts";
import { loadPart } from "../../../cli/parts.ts";
import { jsonText, printFailure, printLines } from "../../../cli/print.ts";
import { type DataFlags, loadConfig } from "../../../config/load-config.ts";
import { lookupDatabaseOf } from "../../../config/lookup-settings.ts";
import { settingsOf } from "../../../config/settings.ts";
import { type DatabaseTarget, databaseUrl } from "../../../config/targets/database-target.ts";
import { noteDatabase } from "../../../lookup/note-database.ts";
import { withAdmin } from "../with-admin.ts";

/**
 * `outrigger images ends`: prints JSON lines for images that are gone or withheld, and for suppressions. The first line has the
 * date of the list; the last line marks it as complete.
 */
export async function ends(flags: DataFlags): Promise<void> {
  const config = await loadConfig(flags, process.env);
  const settings = settingsOf(config);
  const database = lookupDatabaseOf(config, settings.storage);
  const tombstoneDays = settings.images.tombstoneDays;
  await withAdmin(flags, (admin) => printLines(linesOf(admin, database, tombstoneDays)));
}

async function* linesOf(
  admin: StorageAdmin,
  database: DatabaseTarget | null,
  tombstoneDays: number,
): AsyncGenerator<string> {
  yield jsonText({ ends: 1, at: isoText(Date.now()), tombstoneDays });
  const counts = { images: 0, suppressions: 0, unreadable: 0 };
  const onUnreadable = (id: string, error: unknown) => {
    printFailure(`${id} cannot be read: ${reasonOf(error)}`);
    counts.unreadable++;
  };
  for await (const end of admin.ends(onUnreadable)) {
    counts.images++;
    yield jsonText(fieldsOf(end));
  }
  for await (const tokens of tokensOf(database)) {
    counts.suppressions += tokens.length;
    yield jsonText({ suppressions: tokens });
  }
  yield jsonText({ complete: true, ...counts });
}

/** A missing database has no suppressions, and is not created. */
async function* tokensOf(database: DatabaseTarget | null): AsyncGenerator<string[]> {
  if (database === null || (database.kind === "file" && !existsSync(database.path))) return;
  const { exportSuppressions, openDatabase } = await loadPart("lookup", () => import("@outrigger/sql"));
  const opened = openDatabase({ url: databaseUrl(database) });
  try {
    if (!(await opened.isMade())) return;
    noteDatabase(database);
    yield* exportSuppressions(opened);
  } finally {
    await opened.close();
  }
}

function fieldsOf({ id, at, why, withheld }: ImageEnd): Record<string, unknown> {
  if (withheld === null) return { id, at: isoText(at), why };
  const { reason, authority, since, deleteAfter } = withheld;
  const dates = { since: isoText(since), deleteAfter: deleteAfter === null ? null : isoText(deleteAfter) };
  return { id, at: isoText(at), why, withheld: { reason, authority, ...dates } };
}
