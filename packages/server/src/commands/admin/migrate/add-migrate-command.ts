import type { Command } from "commander";
import { lazyAction } from "../../../cli/lazy-action.ts";
import { parseConcurrency } from "../../../cli/option-values.ts";

export const MIGRATE_HELP = `
Copies originals, records, renditions and all other keys, then reads back and compares everything written. It may be
interrupted at any time; run it again to resume. A further run copies later changes of the source and removes keys that
the source no longer has. A server may therefore run during the first copies, and has to stop only for the last run. A
server rejects an incomplete target. Once a server has started on the target, the migration has ended.

Storage is written as in OUTRIGGER_STORAGE: a URL that begins with file:, redis:, rediss: or s3:, or JSON
{"records": "postgres://…", "originals": "s3://…", "renditions": "s3://…"}.

PINs are derived from a secret. A directory stores it; Redis and S3 do not. --secret-file writes it to a file of mode 0600
for OUTRIGGER_SECRET_FILE of the new server. Secrets of the configuration and the environment (OUTRIGGER_SECRET,
OUTRIGGER_SECRET_FILE) are included.

Examples:
  outrigger migrate --from file:./data --to redis://127.0.0.1:6379 --secret-file ./secret
  outrigger migrate --from file:./data --to "s3://pictures/outrigger?region=eu-central-1" --secret-file ./secret
  outrigger migrate --from redis://127.0.0.1:6379 --to file:./data --verify

Exit codes: 0 the target is complete, 1 it is incomplete or the source is damaged, 2 invalid usage or configuration, 130 ended by a
signal after the work in progress; a second signal ends it at once.
`;

/**
 * Adds `outrigger migrate`.
 * @param configHelp Help text of `--config`.
 */
export function addMigrateCommand(program: Command, configHelp: string): void {
  program
    .command("migrate")
    .description("Copy all images from one storage to another, and later update the copy.")
    .showHelpAfterError("(see outrigger migrate --help)")
    .requiredOption("--from <storage>", "source: a URL, or JSON with a URL for each role")
    .requiredOption("--to <storage>", "target, in the same form; empty, or from an earlier run")
    .option("--secret-file <file>", "write the secret of PINs to this file, for OUTRIGGER_SECRET_FILE")
    .option("--without-renditions", "skip other formats and sizes: they are rendered again on request")
    .option("--verify", "also read and compare keys that both sides already have")
    .option(
      "--concurrency <number>",
      "keys copied and ranges of keys listed at a time (default: 8)",
      parseConcurrency,
    )
    .option("--json", "print one JSON object at the end, and progress as lines of JSON")
    .option("--quiet", "show no progress")
    .option("--config <file>", configHelp)
    .addHelpText("after", MIGRATE_HELP)
    .action(lazyAction(async () => (await import("./migrate.ts")).migrate));
}
