import type { Command } from "commander";

export const CONFIG_HELP = "configuration file (default: outrigger.config.json or .mjs, if present)";
/** Help text of `--data` of the commands for the lookup. */
export const DATABASE_HELP = "directory of the database, unless configured (default: ./data)";

/** Exit codes of most commands. */
export const EXIT_CODES = "Exit codes: 0 done, 1 failed, 2 invalid usage or configuration.";
export const EXIT_CODES_OF_SEVERAL =
  "Exit codes: 0 all done, 1 some failed, 2 invalid usage or configuration, nothing done.";

/** Adds a subcommand with the shared options `--config` and `--data`. */
export type AddCommand = (name: string, description: string, help: string) => Command;

/** Adds a command with subcommands. @param dataHelp Help text of `--data`. @returns A function that adds a subcommand. */
export function addGroup(
  program: Command,
  name: string,
  { description, help, dataHelp }: { description: string; help: string; dataHelp: string },
): AddCommand {
  const group = program
    .command(name)
    .description(description)
    .showHelpAfterError(`(see outrigger ${name} --help)`)
    .addHelpText("after", help);
  return (own, ...texts) => addCommand(group, own, `${name} ${own}`, texts, dataHelp);
}

/** Adds a command with the shared options. @param path The words that call it, e.g. `images list`. */
export function addCommand(
  parent: Command,
  name: string,
  path: string,
  [description, help]: readonly [description: string, help: string],
  dataHelp: string,
): Command {
  return parent
    .command(name)
    .description(description)
    .showHelpAfterError(`(see outrigger ${path} --help)`)
    .option("--config <file>", CONFIG_HELP)
    .option("--data <directory>", dataHelp)
    .addHelpText("after", help);
}
