import type { AddressType, DomainSearchParameters, EmailEntry } from "@outrigger/client";
import { jsonText, printOut } from "../../../cli/print-out.ts";
import { printable } from "../../../cli/printable.ts";
import { doOne } from "../do-each.ts";
import { type LookupFlags, withRemoteLookup } from "./with-remote-lookup.ts";

/** The validated options of `outrigger search`. */
export interface SearchFlags extends LookupFlags {
  limit?: number;
  offset?: number;
  type?: AddressType;
  titles?: string;
  required?: string;
  status?: string;
}

/** `outrigger search`: prints the addresses of a domain, one per line. */
export async function search(domain: string, flags: SearchFlags): Promise<void> {
  const { limit, offset, type, titles, required, status, json = false } = flags;
  await withRemoteLookup(flags, async ({ client, baseUrl, signal }) => {
    // The service checks the words of the lists.
    const lists = { requiredField: required, verificationStatus: status } as Partial<DomainSearchParameters>;
    const asked = { domain, limit, offset, type, jobTitles: titles, ...lists };
    const found = await doOne(printable(domain), baseUrl, () => client.domainSearch(asked, { signal }));
    if (json) {
      printOut(jsonText(found));
      return;
    }
    const { emails } = found.data;
    const width = Math.max(0, ...emails.map(({ value }) => printable(value).length));
    const first = found.meta.offset + 1;
    const which = emails.length === 0 ? "" : `, ${first} to ${first + emails.length - 1} shown`;
    printOut(emails.map((entry) => entryLine(entry, width)).join(""));
    process.stderr.write(`outrigger: ${found.meta.results} addresses of ${printable(domain)}${which}\n`);
  });
}

function entryLine(entry: EmailEntry, width: number): string {
  const { value, confidence, first_name, last_name, position } = entry;
  const name = [first_name, last_name].filter((part) => part !== null).join(" ");
  const columns = [printable(value).padEnd(width), String(confidence).padStart(3)];
  for (const text of [name, position ?? ""]) if (text !== "") columns.push(printable(text));
  return `${columns.join("  ")}\n`;
}
