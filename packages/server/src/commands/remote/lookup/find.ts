import type { FoundEmail } from "@outrigger/client";
import { jsonText, labelledLines, printOut } from "../../../cli/print-out.ts";
import { printable } from "../../../cli/printable.ts";
import { ConfigError } from "../../../config/config-error.ts";
import { doOne } from "../do-each.ts";
import { type LookupFlags, withRemoteLookup } from "./with-remote-lookup.ts";

/** The options of `outrigger find`, as typed. */
export interface FindFlags extends LookupFlags {
  domain?: string;
  company?: string;
  name: string;
}

/** `outrigger find`: prints the address of a person and its score. */
export async function find({ domain, company, name, json = false, ...flags }: FindFlags): Promise<void> {
  if ((domain === undefined) === (company === undefined)) {
    throw new ConfigError("The command line", ["--domain or --company: exactly one of them is required"]);
  }
  await withRemoteLookup(flags, async ({ client, baseUrl, signal }) => {
    const where = domain === undefined ? { company } : { domain };
    const found = await doOne(printable(name), baseUrl, () =>
      client.findEmail({ ...where, fullName: name }, { signal }),
    );
    printOut(json ? jsonText(found) : personText(found.data));
  });
}

/** The facts about a person as text. All of it is untrusted. */
function personText({ email, score, first_name, last_name, position, company, sources }: FoundEmail): string {
  if (email === null) return "No address was found\n";
  const [source] = sources;
  const others = sources.length - 1;
  const lines = labelledLines({
    Name: printable(`${first_name} ${last_name}`),
    Score: String(score),
    Position: position === null ? null : printable(position),
    Company: company === null ? null : printable(company),
    Source:
      source === undefined ? null : `${printable(source.uri)}${others > 0 ? ` and ${others} more` : ""}`,
  });
  return `${printable(email)}\n${lines}`;
}
