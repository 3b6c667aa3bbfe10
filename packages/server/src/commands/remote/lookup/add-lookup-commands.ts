import { type Command, InvalidArgumentError, Option } from "commander";
import { parseLimit } from "../../../cli/option-values.ts";
import { TO_HELP } from "../service-url.ts";
import { find } from "./find.ts";
import { FIND_HELP, SEARCH_HELP, VERIFY_HELP } from "./lookup-commands-help.ts";
import { search } from "./search.ts";
import { verify } from "./verify.ts";

/** Adds the commands for the lookup of a service that runs: `find`, `verify` and `search`. */
export function addLookupCommands(program: Command): void {
  /** A command with what all of them have. */
  function add(name: string, description: string, help: string): Command {
    return program
      .command(name)
      .description(description)
      .showHelpAfterError(`(see outrigger ${name} --help)`)
      .option("--to <url>", TO_HELP)
      .option("--key-file <file>", "has the key in its first line (default: OUTRIGGER_API_KEY is the key)")
      .addHelpText("after", help);
  }

  const json = "print the answer as JSON";

  add("find", "Find the address of a person.", FIND_HELP)
    .option("--domain <domain>", "where the person is")
    .option("--company <name>", "instead of the domain")
    .requiredOption("--name <name>", "first and last name")
    .option("--json", json)
    .action(find);
  add("verify", "Tell whether addresses take mail.", VERIFY_HELP)
    .argument("<address...>", "email addresses")
    .option("--json", `${json}, one line per address`)
    .action(verify);
  add("search", "List the addresses of a domain.", SEARCH_HELP)
    .argument("<domain>")
    .option("--limit <number>", "at most so many, 1 to 100 (default: 10)", parseLimit)
    .option("--offset <number>", "leave out so many", parseOffset)
    .addOption(new Option("--type <type>", "only such").choices(["personal", "generic"]))
    .option("--json", json)
    .action(search);
}

function parseOffset(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 0.");
}
