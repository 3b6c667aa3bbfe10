import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { isServiceError } from "@outrigger/core";
import { makeDirectories } from "@outrigger/core/stores";
import { isError, parsedUrl } from "@outrigger/core/values";
import { openDatabase } from "@outrigger/sql";
import type { IndexedDomain } from "./crawl/domain-run.ts";
import { createPageIndex } from "./crawl/page-index.ts";

const HELP = `Usage: outrigger-index <domain...> --contact <url> [options]

Read the pages of domains that are due, and keep the contacts on them. A new domain is read whole. Obeys robots.txt
and noindex. Name only domains whose pages you may index, and tell the people (GDPR Art. 14): docs/contacts.md.
Run an interrupted run again; several may share the work.

  --contact <url>         page about this robot, or an address; sent with each request
  --now                   read all known pages, also those that are not due
  --max-pages <number>    pages of a domain (default: 50)
  --delay <ms>            time between two requests to a host (default: 5000)
  --internal-host <host>  host of your own network, with the port unless it is 80 or 443; can be repeated
  --data <directory>      directory of the server, for lookup.db and the secret (default: ./data)
  --json                  print a JSON object per domain

Environment:
  OUTRIGGER_LOOKUP_DATABASE  file:path or postgres://…, instead of lookup.db in the directory
  OUTRIGGER_SECRET           the secret of the lookup; OUTRIGGER_SECRET_FILE: a file with one secret per line

Exit codes: 0 done, 1 a domain could not be read, 2 invalid usage, nothing done, 130 ended by a signal.
`;
const OPTIONS = {
  contact: { type: "string" },
  now: { type: "boolean" },
  "max-pages": { type: "string" },
  delay: { type: "string" },
  "internal-host": { type: "string", multiple: true },
  data: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean" },
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs `outrigger-index`. @returns the exit code. Rejects for a bug only. */
export async function main(args: string[], environment: Environment): Promise<number> {
  try {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    if (values.help === true) {
      process.stdout.write(HELP);
      return 0;
    }
    return await index(positionals, values, environment);
  } catch (error) {
    if (!isError(error)) throw error;
    // Wrong options, of the command line or of the index.
    const isUsage = error instanceof TypeError || isServiceError(error, "bad_request");
    if (!isUsage && !isServiceError(error) && !("code" in error)) throw error;
    note(`${error.message}${isUsage ? " (see outrigger-index --help)" : ""}`);
    return isUsage ? 2 : 1;
  }
}

type Flags = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];

async function index(domains: string[], flags: Flags, environment: Environment): Promise<number> {
  if (domains.length === 0) throw new TypeError("Name a domain");
  if (flags.contact === undefined) throw new TypeError("--contact is required");
  const directory = flags.data ?? (environment.OUTRIGGER_DATA || "data");
  const secret = await readSecret(directory, environment);
  const url = environment.OUTRIGGER_LOOKUP_DATABASE || pathToFileURL(join(directory, "lookup.db")).href;
  const { host, pathname, protocol } = parsedUrl(url) ?? { host: "", pathname: url, protocol: "" };
  // Without user and password.
  note(`lookup database ${protocol === "file:" ? url : `postgres://${host}${pathname}`}`);
  if (protocol === "file:")
    makeDirectories(dirname(url.startsWith("file:/") ? fileURLToPath(url) : url.slice(5)));
  const database = openDatabase({ url });
  const ending = new AbortController();
  const end = () => ending.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, end);
  let isWhole = true;
  try {
    const pages = createPageIndex(database, {
      contact: flags.contact,
      maxPages: numberOf(flags["max-pages"]),
      perHostMs: numberOf(flags.delay),
      internalHosts: flags["internal-host"],
      secret,
    });
    await pages.index(domains, {
      now: flags.now,
      signal: ending.signal,
      onProgress: (account, hasEnded) => {
        if (hasEnded && !print(account, flags.json === true)) isWhole = false;
      },
    });
    return isWhole ? 0 : 1;
  } catch (error) {
    // After an abort, the error is a result of the abort.
    if (!ending.signal.aborted) throw error;
    note("Stopped. Run the same command again to continue");
    return 130;
  } finally {
    await database.close();
  }
}

/** Anything but digits is no number; the index says what it must be. */
function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}

/** The secrets of the lookup: those of the environment, otherwise the one that a server keeps in its directory. */
async function readSecret(directory: string, environment: Environment): Promise<string[] | Buffer> {
  const { OUTRIGGER_SECRET: secret, OUTRIGGER_SECRET_FILE: file } = environment;
  if (secret) return [secret];
  if (file) return (await readFile(file, "utf8")).split(/\r?\n/).filter((line) => line !== "");
  return await readFile(join(directory, "secret"));
}

/** Prints what a run did. @returns whether pages were ever read, and the run did not stop early. */
function print(account: IndexedDomain, isJson: boolean): boolean {
  const { domain, read, unchanged, disallowed, needScript, cut, added, updated, gone, pages, stopped } =
    account;
  const notes = [
    needScript > 0 ? `${needScript} need JavaScript` : "",
    cut > 0 ? `${cut} longer than 2 MiB were cut` : "",
    ...Object.entries(account.notes).map(
      ([reason, count]) => `${count} × ${reason}, such as ${account.examples[reason]}`,
    ),
    stopped === null ? "" : `stopped: ${stopped}`,
  ].filter((text) => text !== "");
  const text =
    `${domain}: ${read} pages read, ${unchanged} unchanged, ${disallowed} not allowed; ` +
    `${added} addresses added, ${updated} updated, ${gone} no longer there.`;
  const lines = isJson ? [JSON.stringify(account)] : [text, ...notes.map((each) => `  ${printable(each)}`)];
  process.stdout.write(`${lines.join("\n")}\n`);
  if (pages === 0) note(`${domain}: no page could be read`);
  else if (stopped !== null) note(`${domain}: ${stopped}`);
  return pages > 0 && stopped === null;
}

/** Escapes characters that a terminal may interpret. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

function note(text: string): void {
  process.stderr.write(`outrigger-index: ${printable(text)}\n`);
}
