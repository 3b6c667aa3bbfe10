import { existsSync } from "node:fs";
import type { ImageEnd, StorageAdmin } from "@outrigger/core";
import { IMAGES_RULES } from "@outrigger/core/images";
import { isoText } from "../../../cli/amounts.ts";
import { reasonOf } from "../../../cli/error-reason.ts";
import { loadPart } from "../../../cli/parts.ts";
import { printLines } from "../../../cli/print-lines.ts";
import { printable } from "../../../cli/printable.ts";
import { type DataFlags, loadConfig } from "../../../config/load-config.ts";
import { lookupDatabaseOf } from "../../../config/lookup-settings.ts";
import { settingsOf } from "../../../config/settings.ts";
import { type DatabaseTarget, databaseUrl } from "../../../config/targets/database-target.ts";
import { withAdmin } from "../with-admin.ts";

/**
 * `outrigger images ends`: prints JSON lines for images that are gone or withheld, and for suppressions. The first line has the
 * date of the list; the last line marks it as complete.
 */
export async function ends(flags: DataFlags): Promise<void> {
  const loaded = await loadConfig(flags, process.env);
  const settings = settingsOf(loaded);
  const named = lookupDatabaseOf(loaded, settings.storage);
  // A missing database has no suppressions, and is not created.
  const database = named?.kind === "file" && !existsSync(named.path) ? null : named;
  const tombstoneDays = settings.images?.tombstoneDays ?? IMAGES_RULES.tombstoneDays.preset;
  await withAdmin(flags, (admin) => printLines(linesOf(admin, database, tombstoneDays)));
}

async function* linesOf(
  admin: StorageAdmin,
  database: DatabaseTarget | null,
  tombstoneDays: number,
): AsyncGenerator<string> {
  yield line({ ends: 1, at: isoText(Date.now()), tombstoneDays });
  const counts = { images: 0, suppressions: 0, unreadable: 0 };
  const onUnreadable = (id: string, error: unknown) => {
    process.stderr.write(`outrigger: ${id} cannot be read: ${reasonOf(error)}\n`);
    counts.unreadable++;
    process.exitCode = 1;
  };
  for await (const end of admin.ends(onUnreadable)) {
    counts.images++;
    yield line(fieldsOf(end));
  }
  for await (const tokens of tokensOf(database)) {
    counts.suppressions += tokens.length;
    yield line({ suppressions: tokens });
  }
  yield line({ complete: true, ...counts });
}

async function* tokensOf(database: DatabaseTarget | null): AsyncGenerator<string[]> {
  if (database === null) return;
  const { openDatabase } = await loadPart("lookup", () => import("@outrigger/sql"));
  const { exportSuppressions } = await import("@outrigger/sql/backup");
  const opened = openDatabase({ url: databaseUrl(database) });
  try {
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

function line(fields: Record<string, unknown>): string {
  return `${printable(JSON.stringify(fields))}\n`;
}
