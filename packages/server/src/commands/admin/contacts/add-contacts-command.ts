import { type Command, Option } from "commander";
import { lazyAction } from "../../../cli/lazy-action.ts";
import { CONTACTS_HELP, ERASE_HELP, EXPORT_HELP, IMPORT_HELP, STATS_HELP } from "./contacts-help.ts";
import { parseMapping } from "./import-options.ts";

const FORMATS = ["csv", "ndjson"];

/**
 * Adds `outrigger contacts` with its commands.
 * @param configHelp Help text of `--config`.
 */
export function addContactsCommand(program: Command, configHelp: string): void {
  const contacts = program
    .command("contacts")
    .description("Import, export, erase and count the contacts of the email lookup.")
    .showHelpAfterError("(see outrigger contacts --help)")
    .addHelpText("after", CONTACTS_HELP);

  /** A subcommand with the shared options. */
  function add(name: string, description: string, help: string): Command {
    return contacts
      .command(name)
      .description(description)
      .showHelpAfterError(`(see outrigger contacts ${name} --help)`)
      .option("--config <file>", configHelp)
      .option("--data <directory>", "directory of the database, unless configured (default: ./data)")
      .addHelpText("after", help);
  }

  const format = () =>
    new Option("--format <format>", "format of the file (default: from its name)").choices(FORMATS);

  add("import", "Import contacts from a file.", IMPORT_HELP)
    .argument("<file>", "CSV or NDJSON; - for standard input")
    .addOption(format())
    .option("--map <fields>", "columns of the fields: field=column,…", parseMapping)
    .addOption(
      new Option("--on-bad-line <what>", "action for lines that cannot be imported")
        .choices(["skip", "fail"])
        .default("skip"),
    )
    .option("--bad-lines <file>", "write the number and reason of every bad line to this CSV file")
    .option("--json", "print one JSON object at the end")
    .option("--quiet", "show no progress")
    .action(lazyAction(async () => (await import("./import-contacts.ts")).importFile, "lookup"));
  add("export", "Write all contacts to a file.", EXPORT_HELP)
    .argument("[file]", "- for standard output", "-")
    .addOption(format())
    .action(lazyAction(async () => (await import("./stored-contacts.ts")).exportFile, "lookup"));
  add("erase", "Erase addresses or whole domains.", ERASE_HELP)
    .argument("<subject...>", "email addresses and domains")
    .action(lazyAction(async () => (await import("./stored-contacts.ts")).erase, "lookup"));
  add("stats", "Count contacts.", STATS_HELP)
    .option("--json", "print one JSON object")
    .action(lazyAction(async () => (await import("./stored-contacts.ts")).stats, "lookup"));
}
