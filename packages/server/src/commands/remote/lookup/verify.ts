import type { EmailVerification, VerdictReason } from "@outrigger/client";
import { jsonText, printOut } from "../../../cli/print-out.ts";
import { printable } from "../../../cli/printable.ts";
import { ConfigError } from "../../../config/config-error.ts";
import { doEach } from "../do-each.ts";
import { type ListFlags, verifyList } from "./verify-list.ts";
import { type LookupFlags, withRemoteLookup } from "./with-remote-lookup.ts";

/** Widths of the longest values of the API. */
const WIDTHS = { result: "undeliverable".length, status: "accept_all".length, score: 3 };

/** `outrigger verify`: verifies addresses one by one, or a list in the background of the service. */
export async function verify(addresses: string[], flags: LookupFlags & ListFlags): Promise<void> {
  const given = [addresses.length > 0, flags.csv !== undefined, flags.id !== undefined];
  const problems: string[] = [];
  if (given.filter(Boolean).length !== 1) {
    problems.push("address, --csv or --id: exactly one of them is required");
  } else if (addresses.length > 0 && flags.out !== undefined) {
    problems.push("--out: needs --csv or --id");
  } else if (addresses.length === 0 && flags.json === true) {
    problems.push("--json: must not be given with --csv or --id");
  }
  if (problems.length > 0) throw new ConfigError("The command line", problems);
  await (addresses.length > 0 ? verifyEach(addresses, flags) : verifyList(flags));
}

/** Prints a line for each address as its verdict arrives. */
async function verifyEach(addresses: string[], { json = false, ...flags }: LookupFlags): Promise<void> {
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

/** The reasons of a verdict as clauses. */
const REASONS = {
  not_an_address: "it is not an address",
  no_local: "the part before the @ is empty",
  quoted_local: "the part before the @ is quoted",
  local_syntax: "the part before the @ is invalid",
  local_length: "the part before the @ is too long",
  address_literal: "it has an IP address instead of a domain",
  domain_syntax: "its domain is invalid",
  address_length: "it is too long",
  null_mx: "its domain declares that it accepts no mail",
  no_mail_server: "its domain has no mail server",
  user_unknown: "its server does not know the mailbox",
  mailbox_disabled: "its mailbox is disabled",
  mailbox_full: "its mailbox is full",
  accepts_all: "its domain accepts any address",
  policy: "its server rejects all probes from this service",
  greylisted: "its server asks for a later retry (greylisting)",
  temporary: "its server has a temporary error; retry later",
  timeout: "its server took too long; retry later",
  budget: "the limit of probes to its server is reached; retry later",
  dns_failure: "its domain could not be resolved; retry later",
  dns_untrusted: "the resolver of the service does not know the public DNS",
  no_connection: "its mail server does not respond",
  port_25_blocked: "the network of the service blocks port 25",
  protocol: "its server does not speak SMTP",
  forbidden_address: "its mail server has an address that is never probed",
  ascii_only: "its server does not support non-ASCII addresses",
  not_probed: "no mail server was probed",
  no_lists: "the service has no lists of webmail and disposable domains",
} satisfies Record<VerdictReason, string>;

/** The reason of a verdict as a clause. An unknown reason of a newer service is returned unchanged. */
export function reasonText(reason: VerdictReason): string {
  return Object.hasOwn(REASONS, reason) ? REASONS[reason] : reason;
}
