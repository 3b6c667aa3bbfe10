import { type Command, Option } from "commander";
import { lazyAction } from "../../cli/lazy-action.ts";
import { parseCount, parseLimit } from "../../cli/option-values.ts";
import { TO_HELP } from "./options.ts";

const ENVIRONMENT = `
Environment:
  OUTRIGGER_URL      same as --to
  OUTRIGGER_API_KEY  the key, unless --key-file is given

The key is not an option, because other users of this machine can see options in the list of processes. Create a key with
outrigger keys create; outrigger serve --demo prints one.`;

const FIND_HELP = `
The score is the probability in percent that the address belongs to the person. Without enough evidence, no address is
printed.
${ENVIRONMENT}

Examples:
  outrigger find --domain example.com --name "Ada Lovelace"
  outrigger find --company "Example Engines" --name "Ada Lovelace" --json | jq -r .data.email

Exit codes: 0 answered, even if no address was found, 1 failed, 2 invalid usage, 130 ended by a signal.
`;

const VERIFY_HELP = `
Prints one line per address: the result, the status, a score from 0 to 100, and the reason if there is one.

--csv sends a file whose first line names the columns, one of them email, and prints it with columns for the results. The
service verifies it in the background, also after Ctrl-C or a restart: --id continues with the ID that is printed at the
start. Each address counts like a single verification; a list is kept for 30 days.
${ENVIRONMENT}

Examples:
  outrigger verify ada.lovelace@example.com charles@example.com
  outrigger verify --csv people.csv --out verified.csv
  xargs outrigger verify --json < addresses.txt | jq -r 'select(.data.result == "deliverable").data.email'

Exit codes: 0 all answered, even if undeliverable, 1 some failed or beyond the allowance, 2 invalid usage, 130 ended by a signal.
`;

const SEARCH_HELP = `
Prints one line per address, highest confidence first: the confidence from 0 to 100, and the person.
${ENVIRONMENT}

Examples:
  outrigger search example.com --type personal --limit 100 --offset 100
  outrigger search example.com --titles "CTO,Head of Engineering" --json | jq -r '.data.emails[].value'

Exit codes: 0 answered, even if no address is known, 1 failed, 2 invalid usage, 130 ended by a signal.
`;

/** Adds the commands for the lookup of a running service: `find`, `verify` and `search`. */
export function addLookupCommands(program: Command): void {
  /** A subcommand with the shared options. */
  function add(name: string, description: string, help: string): Command {
    return program
      .command(name)
      .description(description)
      .showHelpAfterError(`(see outrigger ${name} --help)`)
      .option("--to <url>", TO_HELP)
      .option("--key-file <file>", "file with the key in its first line (default: OUTRIGGER_API_KEY)")
      .option("--json", "print the reply as JSON, for each address in one line")
      .addHelpText("after", help);
  }

  add("find", "Find the address of a person.", FIND_HELP)
    .option("--domain <domain>", "domain of the person's organization")
    .option("--company <name>", "name of the organization, instead of its domain")
    .requiredOption("--name <name>", "first and last name")
    .action(lazyAction(async () => (await import("./lookup.ts")).find));
  add("verify", "Check whether addresses accept mail.", VERIFY_HELP)
    .argument("[address...]", "email addresses")
    .option("--csv <file>", "verify the addresses of a CSV file; - is standard input")
    .option("--id <id>", "continue with a list that --csv sent before")
    .option("--out <file>", "write the CSV with the results to this file (default: standard output)")
    .option("--quiet", "show no progress")
    .action(lazyAction(async () => (await import("./verify.ts")).verify));
  add("search", "List the addresses of a domain.", SEARCH_HELP)
    .argument("<domain>")
    .option("--limit <number>", "list at most this many, 1 to 100 (default: 10)", parseLimit)
    .option("--offset <number>", "skip this many", parseCount)
    .addOption(new Option("--type <type>", "only addresses of this type").choices(["personal", "generic"]))
    .option("--titles <list>", "only people with one of these job titles, separated by commas")
    .option("--required <list>", "only addresses with all of these: full_name, position, phone_number")
    .option("--status <list>", "only addresses whose latest verdict is one of valid, accept_all, unknown")
    .action(lazyAction(async () => (await import("./lookup.ts")).search));
}
