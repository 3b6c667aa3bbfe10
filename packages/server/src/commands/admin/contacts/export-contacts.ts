import { exportContacts } from "@outrigger/sql";
import { printLines } from "../../../cli/print-lines.ts";
import { type DataFlags, withLookup } from "../../../lookup/with-lookup.ts";
import { writeWhole } from "../write-whole.ts";
import { type ContactFormat, formatOf } from "./import-options.ts";

/** The options of `outrigger contacts export`. */
export interface ExportFlags extends DataFlags {
  format?: ContactFormat;
}

/** `outrigger contacts export`: all that is known, to the standard output or, all of it or nothing, into a file. */
export async function exportFile(file: string, flags: ExportFlags): Promise<void> {
  const format = file === "-" ? (flags.format ?? "csv") : formatOf(file, flags.format);
  await withLookup(flags, false, async ({ database, suppressions }) => {
    const contacts = exportContacts(database, { format, isSuppressed: suppressions.among });
    if (file === "-") await printLines(contacts.setEncoding("utf8"));
    else await writeWhole(file, contacts);
  });
}
