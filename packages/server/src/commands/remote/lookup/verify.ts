import type { EmailVerification, VerdictReason } from "@outrigger/client";
import { jsonText, printOut } from "../../../cli/print-out.ts";
import { printable } from "../../../cli/printable.ts";
import { doEach } from "../do-each.ts";
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

/** What the reasons of a verdict mean, as clauses. */
const REASONS = {
  not_an_address: "it is not an address",
  no_local: "there is nothing before the @",
  quoted_local: "what stands before the @ is in quotes",
  local_syntax: "what stands before the @ cannot be",
  local_length: "what stands before the @ is too long",
  address_literal: "it has a number instead of a domain",
  domain_syntax: "its domain cannot be",
  address_length: "it is too long",
  null_mx: "its domain says that it takes no mail",
  no_mail_server: "its domain has no mail server",
  user_unknown: "its server does not know it",
  mailbox_disabled: "its mailbox is disabled",
  mailbox_full: "its mailbox is full",
  accepts_all: "its domain takes any name",
  policy: "its server refuses us, whoever it is for",
  greylisted: "its server wants to be asked again later",
  temporary: "its server has trouble; ask again later",
  timeout: "its server took too long; ask again later",
  budget: "its server was asked often enough for now; ask again later",
  dns_failure: "its domain could not be looked up; ask again later",
  no_connection: "its mail server does not answer",
  port_25_blocked: "the service may not talk to mail servers from where it is",
  protocol: "its server does not speak SMTP",
  forbidden_address: "its mail server is at an address that is not asked",
  ascii_only: "its server cannot be asked about letters beyond ASCII",
  not_probed: "no mail server was asked",
} satisfies Record<VerdictReason, string>;

/** Why a verdict is as it is, for people. One that a later service has is shown as it is. */
export function reasonText(reason: VerdictReason): string {
  return Object.hasOwn(REASONS, reason) ? REASONS[reason] : reason;
}
