import { isError } from "@outrigger/core/values";
import { Command, CommanderError } from "commander";
import { reasonOf } from "./cli/error-reason.ts";
import { tooManyOpenFiles } from "./cli/open-files.ts";
import { readOwnPackage } from "./cli/own-package.ts";
import { note, printable, printOut } from "./cli/print.ts";
import { addServerCommands } from "./commands/add-server-commands.ts";
import { withHyphenIds } from "./commands/admin/images/image-ids.ts";

import { ConfigError, StartError } from "./config/config-error.ts";

const USAGE_EXIT = 2;

/** Runs the command line and sets the exit code. Never rejects. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(withHyphenIds(argv));
  } catch (error) {
    process.exitCode = await report(error);
  }
}

function createProgram(): Command {
  const program = new Command("outrigger")
    .description("Image hosting and email lookup as one process.")
    .version(readOwnPackage().version)
    .showHelpAfterError("(see outrigger --help)")
    // Help may be piped to a reader that ends early, such as head.
    .configureOutput({ writeOut: printOut, outputError: (text, write) => write(usageText(text)) })
    .exitOverride();
  addServerCommands(program);
  return program;
}

/** A message of Commander in the style of this command. */
export function usageText(text: string): string {
  return text
    .replace(/^error: /, "outrigger: ")
    .replace(/^outrigger: too many arguments for 'serve'.*/s, (said) =>
      process.env.npm_lifecycle_event === "start"
        ? "outrigger: npm keeps the options for itself. Type -- before them: npm start -- --port 8080\n"
        : said,
    )
    .replace(
      /(?:option|command-argument value) '([^']*)' (?:argument '(.*)' )?is invalid(?: for argument '[^']*')?\. (?:It )?/s,
      (_, flags, value) =>
        value === undefined
          ? `${printable(flags)}: `
          : `${/--[\w-]+/.exec(flags)?.[0]} ${printable(value)}: `,
    );
}

/** Prints each problem on its own line and returns the exit code. */
async function report(error: unknown): Promise<number> {
  // Commander has already printed the message. Help and version exit with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT;
  note(failureOf(error));
  return error instanceof ConfigError ? USAGE_EXIT : 1;
}

function failureOf(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StartError) return error.message;
  const limit = tooManyOpenFiles(error);
  if (limit !== null) return limit;
  if (!isError(error)) return String(error);
  // By its name: the services, which take long to load, are not needed for that.
  if (error.name !== "ServiceError") return String(error.stack); // A bug.
  const reason = reasonOf(error);
  return error.message.startsWith(reason) ? error.message : `${error.message}: ${reason}`;
}
