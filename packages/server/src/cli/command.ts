import type { Command, Help } from "commander";
import { type Part, requireParts } from "./parts.ts";

export const CONFIG_HELP = "configuration file (default: outrigger.config.json or .mjs, if present)";
/** Help text of `--data` of the commands for images. */
export const DATA_HELP = "directory of the images (default: ./data)";

const EXIT_CODES =
  "Exit codes: 0 done, 1 something failed or is damaged, 2 invalid usage or configuration, nothing done, 130 ended by a signal.";

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
  return parent
    .command(name)
    .description(description)
    .showHelpAfterError(`(see outrigger ${path} --help)`)
    .addHelpText("after", ({ command, error }) => {
      const { getOutHelpWidth, getErrHelpWidth } = command.configureOutput();
      const help = command.createHelp();
      help.prepareContext({ helpWidth: (error ? getErrHelpWidth : getOutHelpWidth)?.() ?? 80 });
      const variables = environment === "" ? "" : `Environment:\n${variablesText(environment, help)}`;
      const parts = [
        paragraphs(notes, help),
        variables,
        `Examples:\n${examples}`,
        paragraphs(EXIT_CODES, help),
      ];
      return `\n${parts.filter((part) => part !== "").join("\n\n")}\n`;
    });
}

/** Text at the width of the help. Indented lines stay as they are. */
function paragraphs(text: string, help: Help): string {
  const lines = text
    .trim()
    .replaceAll(/(?<=\S)\n(?=\S)/g, " ")
    .split("\n");
  return lines
    .map((line) => (line.startsWith(" ") ? line : help.boxWrap(line, help.helpWidth ?? 80)))
    .join("\n");
}

/** Lines of variables and their meanings at the width of the help. */
function variablesText(text: string, help: Help): string {
  const items = text.split(/\n {2}(?=\S)/).map((item) => item.trim().split(/\s{2,}/));
  const width = Math.max(...items.map(([term = ""]) => term.length));
  return items
    .map(([term = "", ...meaning]) => help.formatItem(term, width, meaning.join(" "), help))
    .join("\n");
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
