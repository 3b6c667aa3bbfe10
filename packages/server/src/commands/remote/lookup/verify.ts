import type { EmailVerification } from "@outrigger/client";
import { jsonText } from "../../../cli/json-text.ts";
import { printOut } from "../../../cli/print-out.ts";
import { printable } from "../../../cli/printable.ts";
import { doEach } from "../do-each.ts";
import { reasonText } from "./reason-text.ts";
import { type LookupFlags, withRemoteLookup } from "./with-remote-lookup.ts";

/** The longest words of the API. */
const WIDTHS = { result: "undeliverable".length, status: "accept_all".length, score: 3 };

/** `outrigger verify`: a line for each address, as its verdict comes. */
export async function verify(addresses: string[], { json = false, ...flags }: LookupFlags): Promise<void> {
  const width = Math.max(...addresses.map((address) => printable(address).length));
  await withRemoteLookup(flags, async ({ client, baseUrl, signal }) => {
    const tasks = addresses.map((address) => ({
      name: printable(address),
      baseUrl,
      async run() {
        const verdict = await client.verifyEmail(address, { signal });
        printOut(json ? jsonText(verdict) : verdictLine(verdict.data, width));
      },
    }));
    await doEach(tasks, signal);
  });
}

function verdictLine(verdict: EmailVerification, width: number): string {
  const { email, result, status, score, reason, suggestion } = verdict;
  const columns = [
    printable(email).padEnd(width),
    printable(result).padEnd(WIDTHS.result),
    printable(status).padEnd(WIDTHS.status),
    String(score).padStart(WIDTHS.score),
  ];
  if (reason !== null) columns.push(printable(reasonText(reason)));
  if (suggestion !== null) columns.push(`did you mean ${printable(suggestion)}?`);
  return `${columns.join("  ")}\n`;
}
