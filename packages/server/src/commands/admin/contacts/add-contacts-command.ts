import { type Command, Option } from "commander";
import { lazyAction } from "../../../cli/lazy-action.ts";
import { CONTACTS_HELP, ERASE_HELP, EXPORT_HELP, IMPORT_HELP, STATS_HELP } from "./contacts-help.ts";
import { parseMapping } from "./import-options.ts";

const FORMATS = ["csv", "ndjson"];

/**
 * Adds `outrigger contacts` with its commands.
 * @param configHelp What to say about `--config`.
 */
export function addContactsCommand(program: Command, configHelp: string): void {
  const contacts = program
    .command("contacts")
    .description("Import, export, erase and count what the email lookup knows.")
    .showHelpAfterError("(see outrigger contacts --help)")
    .addHelpText("after", CONTACTS_HELP);

  /** A command with what all of them have. */
  function add(name: string, description: string, help: string): Command {
    return contacts
      .command(name)
      .description(description)
      .showHelpAfterError(`(see outrigger contacts ${name} --help)`)
      .option("--config <file>", configHelp)
      .option("--data <directory>", "where the database is, unless it is configured (default: ./data)")
      .addHelpText("after", help);
  }

  const format = () => new Option("--format <format>", "of the file (default: by its name)").choices(FORMATS);

  add("import", "Take in contacts from a file.", IMPORT_HELP)
    .argument("<file>", "CSV or NDJSON; - is the standard input")
    .addOption(format())
    .option("--map <fields>", "which column is which field: field=column,…", parseMapping)
    .addOption(
      new Option("--on-bad-line <what>", "what to do with lines that cannot be imported")
        .choices(["skip", "fail"])
        .default("skip"),
    )
    .option("--bad-lines <file>", "write number and reason of every bad line to this file (CSV)")
    .option("--json", "print one JSON object at the end")
    .option("--quiet", "no progress")
    .action(lazyAction(async () => (await import("./import-contacts.ts")).importFile));
  add("export", "Write all contacts to a file.", EXPORT_HELP)
    .argument("[file]", "- is the standard output", "-")
    .addOption(format())
    .action(lazyAction(async () => (await import("./stored-contacts.ts")).exportFile));
  add("erase", "Forget addresses or whole domains.", ERASE_HELP)
    .argument("<subject...>", "email addresses and domains")
    .action(lazyAction(async () => (await import("./stored-contacts.ts")).erase));
  add("stats", "Count contacts.", STATS_HELP)
    .option("--json", "print one JSON object")
    .action(lazyAction(async () => (await import("./stored-contacts.ts")).stats));
}
