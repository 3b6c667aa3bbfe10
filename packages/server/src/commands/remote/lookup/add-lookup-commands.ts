import { type Command, InvalidArgumentError, Option } from "commander";
import { lazyAction } from "../../../cli/lazy-action.ts";
import { parseLimit } from "../../../cli/option-values.ts";
import { TO_HELP } from "../service-url.ts";
import { FIND_HELP, SEARCH_HELP, VERIFY_HELP } from "./lookup-commands-help.ts";

/** Adds the commands for the lookup of a running service: `find`, `verify` and `search`. */
export function addLookupCommands(program: Command): void {
  /** A subcommand with the shared options. */
  function add(name: string, description: string, help: string): Command {
    return program
      .command(name)
      .description(description)
      .showHelpAfterError(`(see outrigger ${name} --help)`)
      .option("--to <url>", TO_HELP)
      .option(
        "--key-file <file>",
        "file with the key in its first line (default: the key in OUTRIGGER_API_KEY)",
      )
      .addHelpText("after", help);
  }

  const json = "print the reply as JSON";

  add("find", "Find the address of a person.", FIND_HELP)
    .option("--domain <domain>", "domain of the person's organization")
    .option("--company <name>", "name of the organization, instead of its domain")
    .requiredOption("--name <name>", "first and last name")
    .option("--json", json)
    .action(lazyAction(async () => (await import("./find.ts")).find));
  add("verify", "Check whether addresses accept mail.", VERIFY_HELP)
    .argument("[address...]", "email addresses")
    .option("--csv <file>", "verify the addresses of a CSV file; - is standard input")
    .option("--id <id>", "continue with a list that --csv sent before")
    .option("--out <file>", "write the CSV with the results to this file (default: standard output)")
    .option("--quiet", "show no progress")
    .option("--json", `${json}, one line per address`)
    .action(lazyAction(async () => (await import("./verify.ts")).verify));
  add("search", "List the addresses of a domain.", SEARCH_HELP)
    .argument("<domain>")
    .option("--limit <number>", "list at most this many, 1 to 100 (default: 10)", parseLimit)
    .option("--offset <number>", "skip this many", parseOffset)
    .addOption(new Option("--type <type>", "only addresses of this type").choices(["personal", "generic"]))
    .option("--titles <list>", "only people with one of these job titles, separated by commas")
    .option("--required <list>", "only addresses with all of these: full_name, position, phone_number")
    .option("--status <list>", "only addresses whose latest verdict is one of valid, accept_all, unknown")
    .option("--json", json)
    .action(lazyAction(async () => (await import("./search.ts")).search));
}

function parseOffset(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 0.");
}
