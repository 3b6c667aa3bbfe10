import { readFile } from "node:fs/promises";
import type { AddressType, DomainSearchParameters, LookupClient } from "@outrigger/client";
import { fileReasonOf } from "../../cli/error-reason.ts";
import { untilInterrupted } from "../../cli/interruption.ts";
import { jsonText, labelledLines, note, printable, printOut } from "../../cli/print.ts";
import { ConfigError, usageError } from "../../config/config-error.ts";
import { doEach, doOne, lookupClientAt, serviceUrlOf } from "./service.ts";

const VARIABLE = "OUTRIGGER_API_KEY";

/** The options that locate the lookup, as typed. */
export interface LookupFlags {
  to?: string;
  keyFile?: string;
  json?: boolean;
}

/** A client of a lookup whose requests end on Ctrl-C. */
interface RemoteLookup {
  client: LookupClient;
  baseUrl: string;
  signal: AbortSignal;
}

/** Runs `work` with a client of the lookup given by the flags and the environment. @throws ConfigError */
async function withRemoteLookup(
  { to, keyFile }: LookupFlags,
  work: (lookup: RemoteLookup) => Promise<void>,
): Promise<void> {
  const baseUrl = serviceUrlOf(to);
  const client = lookupClientAt(baseUrl, await readApiKey(keyFile));
  await untilInterrupted((signal) => work({ client, baseUrl, signal }));
}

/**
 * The key to the lookup: the first line of a file, otherwise from the environment.
 * @throws ConfigError for a missing or invalid key, which is not quoted.
 */
export async function readApiKey(
  file: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const refuse = (what: string) => new ConfigError("The key to the lookup", [what]);
  const from = file === undefined ? "" : printable(file);
  const read = (path: string) =>
    readFile(path, "utf8").catch((cause) => {
      throw refuse(`--key-file: ${from} cannot be read: ${fileReasonOf(cause)}`);
    });
  const text = file === undefined ? (environment[VARIABLE] ?? "") : await read(file);
  const key = text.split("\n", 1)[0]?.trim() ?? "";
  // The characters that a header can carry.
  if (/^[!-~]+$/.test(key)) return key;
  if (file !== undefined) throw refuse(`--key-file: ${from} has no key in its first line`);
  throw refuse(`${VARIABLE}: must be a key; or set --key-file to a file with a key`);
}

/** The options of `outrigger find`, as typed. */
export interface FindFlags extends LookupFlags {
  domain?: string;
  company?: string;
  name: string;
}

/** `outrigger find`: prints the address of a person and its score. All of the text is untrusted. */
export async function find({ domain, company, name, json = false, ...flags }: FindFlags): Promise<void> {
  if ((domain === undefined) === (company === undefined))
    throw usageError("--domain or --company: exactly one of them is required");
  await withRemoteLookup(flags, async ({ client, baseUrl, signal }) => {
    const run = () => client.findEmail({ domain, company, fullName: name }, { signal });
    const found = await doOne({ name: printable(name), baseUrl, run });
    if (json) return printOut(jsonText(found));
    const { email, score, first_name, last_name, position, company: employer, sources } = found.data;
    if (email === null) return printOut("No address was found\n");
    const [source] = sources;
    const others = sources.length > 1 ? ` and ${sources.length - 1} more` : "";
    const lines = labelledLines({
      Name: printable(`${first_name} ${last_name}`),
      Score: String(score),
      Position: position === null ? null : printable(position),
      Company: employer === null ? null : printable(employer),
      Source: source === undefined ? null : printable(source.uri) + others,
    });
    printOut(`${printable(email)}\n${lines}`);
  });
}

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
  const { limit, offset, type, titles: jobTitles, required, status, json = false } = flags;
  await withRemoteLookup(flags, async ({ client, baseUrl, signal }) => {
    // The service checks the words of the lists.
    const lists = { requiredField: required, verificationStatus: status } as Partial<DomainSearchParameters>;
    const asked = { domain, limit, offset, type, jobTitles, ...lists };
    const run = () => client.domainSearch(asked, { signal });
    const found = await doOne({ name: printable(domain), baseUrl, run });
    if (json) return printOut(jsonText(found));
    const { emails } = found.data;
    for (const { value, confidence, first_name, last_name, position } of emails)
      printOut(
        rowText([value, String(confidence), `${first_name ?? ""} ${last_name ?? ""}`.trim(), position ?? ""]),
      );
    const { results, offset: skipped } = found.meta;
    const which = emails.length === 0 ? "" : `, ${skipped + 1} to ${skipped + emails.length} shown`;
    note(`${results} addresses of ${printable(domain)}${which}`);
  });
}

/** `outrigger verify`: verifies addresses one by one, and prints a line for each as its verdict arrives. */
export async function verify(addresses: string[], { json = false, ...flags }: LookupFlags): Promise<void> {
  await withRemoteLookup(flags, async ({ client, baseUrl, signal }) => {
    const print = async (address: string) => {
      const verdict = await client.verifyEmail(address, { signal });
      const { email, result, status, score, reason, suggestion } = verdict.data;
      const why = reason?.replaceAll("_", " ") ?? "";
      const hint = suggestion === null ? "" : `did you mean ${suggestion}?`;
      printOut(json ? jsonText(verdict) : rowText([email, result, status, String(score), why, hint]));
    };
    const tasks = addresses.map((address) => ({
      name: printable(address),
      baseUrl,
      run: () => print(address),
    }));
    await doEach(tasks, signal);
  });
}

/** Untrusted texts as a line; empty ones are omitted. */
function rowText(texts: readonly string[]): string {
  const shown = texts.filter((text) => text !== "").map(printable);
  return `${shown.join("  ")}\n`;
}
