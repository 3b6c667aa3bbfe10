import type { Command } from "commander";
import { migrate } from "./migrate.ts";
import { MIGRATE_HELP } from "./migrate-help.ts";
import { parseConcurrency } from "./parse-concurrency.ts";

/**
 * Adds `outrigger migrate`.
 * @param configHelp What to say about `--config`.
 */
export function addMigrateCommand(program: Command, configHelp: string): void {
  program
    .command("migrate")
    .description("Copy all images from one storage to another, and make it the same again later.")
    .showHelpAfterError("(see outrigger migrate --help)")
    .requiredOption("--from <storage>", "where the images are: a URL, or JSON with one for each role")
    .requiredOption("--to <storage>", "where they are to be, in the same form; empty, or from an earlier run")
    .option(
      "--secret-file <file>",
      "write what PINs are derived from to this file, for OUTRIGGER_SECRET_FILE",
    )
    .option("--without-renditions", "leave other formats and sizes out: they are drawn again when asked for")
    .option("--verify", "also read and compare what both sides have already")
    .option("--concurrency <number>", "keys that are copied at a time (default: 8)", parseConcurrency)
    .option("--json", "print one JSON object at the end")
    .option("--quiet", "no progress")
    .option("--config <file>", configHelp)
    .addHelpText("after", MIGRATE_HELP)
    .action(migrate);
}
