import { isError } from "@outrigger/core/values";
import { Command, CommanderError } from "commander";
import { reasonOf } from "./cli/error-reason.ts";
import { tooManyOpenFiles } from "./cli/open-files.ts";
import { readOwnPackage } from "./cli/own-package.ts";
import { printOut } from "./cli/print-out.ts";
import { withHyphenIds } from "./commands/admin/images/image-ids.ts";
import { addImageCommands } from "./commands/remote/add-image-commands.ts";
import { addLookupCommands } from "./commands/remote/add-lookup-commands.ts";
import { ConfigError, StartError } from "./config/config-error.ts";

const USAGE_EXIT = 2;

/** Runs the command line and sets the exit code. Never rejects. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(argv[2]);
    await program.parseAsync(withHyphenIds(argv));
  } catch (error) {
    process.exitCode = await report(error);
  }
}

/** @param name The command as typed; absent if none was. */
async function createProgram(name: string | undefined): Promise<Command> {
  const program = new Command("outrigger")
    .description("Image hosting and email lookup as one process.")
    .version(readOwnPackage().version)
    .showHelpAfterError("(see outrigger --help)")
    // Help may be piped to a reader that ends early, such as head.
    .configureOutput({ writeOut: printOut })
    .exitOverride();
  program.commandsGroup("Use a running service:");
  addImageCommands(program);
  addLookupCommands(program);
  if (program.commands.some((command) => command.name() === name)) return program;
  // Server commands take long to load, so client commands run without them.
  const { addServerCommands } = await import("./commands/add-server-commands.ts");
  program.commandsGroup("Run a service:");
  addServerCommands(program);
  return program;
}

/** Prints each problem on its own line and returns the exit code. */
async function report(error: unknown): Promise<number> {
  // Commander has already printed the message. Help and version exit with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT;
  if (error instanceof ConfigError) {
    process.stderr.write(`outrigger: ${error.message}\n`);
    return USAGE_EXIT;
  }
  if (error instanceof StartError) {
    process.stderr.write(`outrigger: ${error.message}\n`);
    return 1;
  }
  const said = tooManyOpenFiles(error);
  if (said !== null) {
    process.stderr.write(`outrigger: ${said}\n`);
    return 1;
  }
  // By its name: the services, which take long to load, are not needed for that.
  if (isError(error) && error.name === "ServiceError") {
    const reason = reasonOf(error);
    process.stderr.write(
      `outrigger: ${error.message}${error.message.startsWith(reason) ? "" : `: ${reason}`}\n`,
    );
    return 1;
  }
  // A bug: print its stack.
  process.stderr.write(`outrigger: ${isError(error) ? error.stack : String(error)}\n`);
  return 1;
}
