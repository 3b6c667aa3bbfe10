import { isServiceError } from "@outrigger/core";
import { normaliseDomain } from "@outrigger/core/lookup";
import { normaliseAddress } from "@outrigger/core/values";
import { type ExportOptions, exportContacts } from "@outrigger/sql";
import { serviceReasonOf } from "../../../cli/error-reason.ts";
import { printable, printFailure, printLines, printOut } from "../../../cli/print.ts";
import { writeAtomically } from "../../../cli/write-file.ts";
import { usageError } from "../../../config/config-error.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { withLookup } from "../../../lookup/with-lookup.ts";
import { formatOf } from "./import-contacts.ts";

type ExportFormat = ExportOptions["format"];

/** `outrigger contacts export`: writes all contacts to standard output, or atomically to a file. */
export async function exportFile(file: string, flags: DataFlags & { format?: ExportFormat }): Promise<void> {
  const format = flags.format ?? (file === "-" ? "csv" : formatOf(file));
  if (format !== "csv" && format !== "ndjson") {
    throw usageError(`--format: is required for ${file}: csv or ndjson`);
  }
  await withLookup(flags, false, async ({ database, suppressions }) => {
    const contacts = exportContacts(database, { format, isSuppressed: suppressions.among });
    if (file === "-") await printLines(contacts.setEncoding("utf8"));
    else await writeAtomically(file, contacts);
  });
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
  await withLookup(flags, false, async ({ lookup }) => {
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

/**
 * The addresses and domains as typed, normalised, each once.
 * @throws ConfigError that names all invalid ones.
 */
function subjectsOf(texts: readonly string[]): string[] {
  const subjects = texts.map((text) => (text.includes("@") ? normaliseAddress(text) : normaliseDomain(text)));
  const wrong = texts.filter((_, index) => subjects[index] === null);
  if (wrong.length === 0) return [...new Set(subjects.filter((subject) => subject !== null))];
  throw usageError(...wrong.map((text) => `${printable(text)}: must be an email address or a domain`));
}

/**
 * Changes addresses and domains one by one and prints a line for each. Prints a failure on standard error, sets the exit
 * code to 1, and continues with the others.
 * @param change Returns the text to print, and whether the change succeeded.
 */
async function changeSubjects(
  subjects: readonly string[],
  change: (subject: string) => Promise<{ said: string; isDone: boolean }>,
): Promise<void> {
  for (const subject of subjects) {
    try {
      const { said, isDone } = await change(subject);
      if (isDone) printOut(`${subject} ${said}\n`);
      else printFailure(`${subject}: ${said}`);
    } catch (error) {
      if (!isServiceError(error)) throw error;
      printFailure(`${subject}: ${serviceReasonOf(error)}`);
    }
  }
}
