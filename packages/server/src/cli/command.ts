import type { Command } from "commander";
import { type Part, requireParts } from "./parts.ts";

export const CONFIG_HELP = "configuration file (default: outrigger.config.json or .mjs, if present)";
/** Help text of `--data` of the commands for images. */
export const DATA_HELP = "directory of the images (default: ./data)";

const EXIT_CODES = `
Exit codes: 0 done, 1 something failed or is damaged, 2 invalid usage or configuration, nothing done, 130 ended by a signal.
`;

/** The help of a command. */
export interface CommandTexts {
  description: string;
  /** What the options do not say. @default "" */
  notes?: string;
  /** Lines of variables and their meanings. @default "" */
  environment?: string;
  examples: string;
}

/** Adds a command or a group of commands whose help ends with notes, environment, examples and exit codes. */
export function addCommand(
  parent: Command,
  name: string,
  { description, notes = "", environment = "", examples }: CommandTexts,
): Command {
  const path = parent.parent === null ? name : `${parent.name()} ${name}`;
  const variables = environment === "" ? "" : `\nEnvironment:\n${environment}\n`;
  return parent
    .command(name)
    .description(description)
    .showHelpAfterError(`(see outrigger ${path} --help)`)
    .addHelpText("after", `\n${notes}${variables}\nExamples:\n${examples}\n${EXIT_CODES}`);
}

/** Adds a command with the options that locate the data of a server. */
export function addDataCommand(
  parent: Command,
  name: string,
  texts: CommandTexts,
  dataHelp = DATA_HELP,
): Command {
  return addCommand(parent, name, texts)
    .option("--config <file>", CONFIG_HELP)
    .option("--data <directory>", dataHelp);
}

/**
 * The action of a command, loaded when the command runs. Loading the modules of all commands would more than double the start
 * time.
 * @param load Imports the module of the action.
 * @param part A part that the module needs.
 */
export function lazyAction<Args extends unknown[]>(
  load: () => Promise<(...args: Args) => Promise<void>>,
  part?: Part,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    if (part !== undefined) await requireParts([part]);
    await (await load())(...args);
  };
}
