import type { Readable } from "node:stream";
import { exportContacts } from "@outrigger/sql";
import { type DataFlags, withLookup } from "../../../lookup/with-lookup.ts";

/** The options of `outrigger contacts stats`. */
export interface StatsFlags extends DataFlags {
  json?: boolean;
}

/** `outrigger contacts stats`: how much is known. */
export async function stats({ json = false, ...flags }: StatsFlags): Promise<void> {
  await withLookup(flags, false, async ({ database, suppressions }) => {
    const counts = { addresses: 0, personal: 0, generic: 0, domains: 0, pages: 0 };
    const domains = new Set<string>();
    const contacts = exportContacts(database, { format: "ndjson", isSuppressed: suppressions.among });
    for await (const line of linesOf(contacts)) {
      // Written by our own export.
      const { address, type, domain, sources } = JSON.parse(line) as ExportedLine;
      domains.add(domain ?? (address ?? "").slice((address ?? "").lastIndexOf("@") + 1));
      if (address === undefined) continue;
      counts.addresses++;
      counts[type === "generic" ? "generic" : "personal"]++;
      counts.pages += sources?.length ?? 0;
    }
    counts.domains = domains.size;
    const table = Object.entries(counts).map(
      ([name, value]) => `${name.padEnd(11)} ${String(value).padStart(9)}\n`,
    );
    process.stdout.write(json ? `${JSON.stringify(counts)}\n` : table.join(""));
  });
}

/** Not by readline, which also breaks lines at characters that JSON leaves as they are. */
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
