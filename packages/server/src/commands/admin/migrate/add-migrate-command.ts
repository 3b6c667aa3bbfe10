import type { Command } from "commander";
import { parseConcurrency } from "../../../cli/option-values.ts";
import { migrate } from "./migrate.ts";

export const MIGRATE_HELP = `
Copies originals, records, renditions and everything else, and reads back and compares what it has written. It may be
ended at any time and run again: it goes on where it was. Run again after its end, it brings what has changed at the
source since, and removes from the target what the source does not have any more; so a server may go on while most is
copied, and has to be stopped for the last run only. A server refuses a target that is not whole, and one that has
started on it ends the migration.

Storage is written as in OUTRIGGER_STORAGE: a URL that begins with file:, redis:, rediss: or s3:, or JSON
{"records": "redis://…", "originals": "s3://…", "renditions": "s3://…"}.

PINs are derived from a secret. A directory keeps it, Redis and S3 keep none: --secret-file writes it to a file of mode
0600, which the new server is given as OUTRIGGER_SECRET_FILE. Secrets of the configuration and the environment
(OUTRIGGER_SECRET, OUTRIGGER_SECRET_FILE) are known, too.

Examples:
  outrigger migrate --from file:./data --to redis://127.0.0.1:6379 --secret-file ./secret
  outrigger migrate --from file:./data --to "s3://pictures/outrigger?region=eu-central-1" --secret-file ./secret
  outrigger migrate --from redis://127.0.0.1:6379 --to file:./data --verify

Exit codes: 0 the target is whole, 1 it is not, or the source is damaged, 2 wrong usage or configuration, 130 ended by a
signal after what was under way; a second signal ends it at once.
`;

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
