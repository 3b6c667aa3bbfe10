import type { Readable } from "node:stream";
import { exportContacts } from "@outrigger/sql";
import { printLines, printOut, tableRow } from "../../../cli/print.ts";
import { writeAtomically } from "../../../cli/write-file.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { withLookup } from "../../../lookup/with-lookup.ts";
import { changeSubjects, subjectsOf } from "../subjects.ts";
import { type ContactFormat, formatOf } from "./import-contacts.ts";

/** `outrigger contacts export`: writes all contacts to standard output, or atomically to a file. */
export async function exportFile(file: string, flags: DataFlags & { format?: ContactFormat }): Promise<void> {
  const format = file === "-" ? (flags.format ?? "csv") : formatOf(file, flags.format);
  await withLookup(flags, false, async ({ database, suppressions }) => {
    const contacts = exportContacts(database, { format, isSuppressed: suppressions.among });
    if (file === "-") await printLines(contacts.setEncoding("utf8"));
    else await writeAtomically(file, contacts);
  });
}

/** `outrigger contacts stats`: counts contacts. */
export async function stats({ json = false, ...flags }: DataFlags & { json?: boolean }): Promise<void> {
  await withLookup(flags, false, async ({ database, suppressions }) => {
    const counts = { addresses: 0, personal: 0, generic: 0, domains: 0, pages: 0 };
    const domains = new Set<string>();
    const contacts = exportContacts(database, { format: "ndjson", isSuppressed: suppressions.among });
    for await (const line of linesOf(contacts)) {
      // The export writes this shape.
      const { address, type, domain, sources } = JSON.parse(line) as ExportedLine;
      domains.add(domain ?? (address ?? "").slice((address ?? "").lastIndexOf("@") + 1));
      if (address === undefined) continue;
      counts.addresses++;
      counts[type === "generic" ? "generic" : "personal"]++;
      counts.pages += sources?.length ?? 0;
    }
    counts.domains = domains.size;
    const rows = Object.entries(counts).map(([name, value]) => tableRow([name, String(value)], [11, -9]));
    printOut(json ? `${JSON.stringify(counts)}\n` : rows.join(""));
  });
}

/** Does not use readline, which also breaks lines at characters that JSON leaves unescaped. */
async function* linesOf(text: Readable): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of text.setEncoding("utf8")) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

interface ExportedLine {
  address?: string;
  type?: string;
  domain?: string;
  sources?: unknown[];
}

/** `outrigger contacts erase`: erases addresses and whole domains until they are imported again. */
export async function erase(texts: readonly string[], flags: DataFlags): Promise<void> {
  const subjects = subjectsOf(texts);
  await withLookup(flags, false, async ({ lookup }) => {
    await changeSubjects(subjects, async (subject) => {
      const wasKnown = await lookup.erase(subject);
      return { isDone: wasKnown, said: wasKnown ? "erased" : "unknown" };
    });
  });
}

/** `outrigger suppress`: suppresses people and domains, or ends a suppression. */
export async function suppress(
  texts: readonly string[],
  { remove = false, ...flags }: DataFlags & { remove?: boolean },
): Promise<void> {
  const subjects = subjectsOf(texts);
  await withLookup(flags, !remove, async ({ lookup }) => {
    await changeSubjects(subjects, async (subject) => {
      if (!remove) {
        await lookup.suppress(subject);
        return { isDone: true, said: "suppressed" };
      }
      const isDone = await lookup.unsuppress(subject);
      return { isDone, said: isDone ? "no longer suppressed" : "not suppressed" };
    });
  });
}
