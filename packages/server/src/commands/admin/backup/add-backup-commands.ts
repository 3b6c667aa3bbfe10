import type { Command } from "commander";
import { lazyAction } from "../../../cli/lazy-action.ts";
import { parseConcurrency } from "../../../cli/option-values.ts";

export const BACKUP_HELP = `
Copies records and originals, including uploads in processing, and the database of the lookup. The service may run: each
image is copied as it was before or after an edit. Everything copied is read back and compared. Renditions are skipped:
they are rendered again. A further run copies changes and removes deleted images. Damaged images of the source are
reported, and the backup keeps the intact copy of an earlier run.

The storage and the lookup's database are those of the configuration, see outrigger serve --help. PostgreSQL is copied with
pg_dump, which must be on PATH. The secret of PINs is not copied. No PIN works without it, so store it separately, or add
it to a directory with --with-secret (mode 0600).

Examples:
  outrigger backup --to file:/backup/images
  outrigger backup --to file:/backup/images --data /var/lib/outrigger --with-secret
  OUTRIGGER_STORAGE=redis://127.0.0.1:6379 outrigger backup --to "s3://backups/images?region=eu-central-1"

Exit codes: 0 the backup is complete, 1 it is incomplete, lacks the lookup, or the source is damaged, 2 invalid usage or
configuration, 130 ended by a signal after the work in progress; a second signal ends it at once.
`;

export const RESTORE_HELP = `
Fills the storage of the configuration (see outrigger serve --help) from a backup. Run it before the service starts. Empty
storage gets the content of the backup. The lookup's database and the secret are restored if missing.

Storage with images gets the missing images, also while a service runs. Existing, deleted and withheld images are not
changed. An unknown image is restored if its deletion would still be recorded: the backup is younger than
images.tombstoneDays (30), or lists of ends cover the time since. Expired images are not restored, and suppressions of the
lookup are never removed.

Examples:
  outrigger restore --from file:/backup/images
  outrigger restore --from file:/backup/images --data /var/lib/outrigger --ends /backup/ends.ndjson
  OUTRIGGER_STORAGE=redis://127.0.0.1:6379 OUTRIGGER_SECRET_FILE=./secret outrigger restore --from s3://backups/images

Exit codes: 0 all restored, 1 something is missing, 2 invalid usage or configuration, 130 ended by a signal after the work in
progress; a second signal ends it at once.
`;

/**
 * Adds `outrigger backup` and `outrigger restore`.
 * @param configHelp Help text of `--config`.
 */
export function addBackupCommands(program: Command, configHelp: string): void {
  /** A command with the options of both. */
  function add(name: string, description: string, help: string): Command {
    return program
      .command(name)
      .description(description)
      .showHelpAfterError(`(see outrigger ${name} --help)`)
      .option("--config <file>", configHelp)
      .option("--data <directory>", "directory of the images (default: ./data)")
      .option("--concurrency <number>", "keys copied at a time (default: 8)", parseConcurrency)
      .option("--json", "print one JSON object at the end, and progress as lines of JSON")
      .option("--quiet", "show no progress")
      .addHelpText("after", help);
  }

  add("backup", "Copy images and the lookup's database to a backup, also while a server runs.", BACKUP_HELP)
    .requiredOption("--to <url>", "file: or s3: URL of the backup; empty, or from an earlier run")
    .option("--with-secret", "add the secret, in a file of mode 0600; only to a directory")
    .option("--verify", "also read and compare keys already in the backup")
    .action(lazyAction(async () => (await import("./backup.ts")).backup));
  add("restore", "Restore images and the lookup's database from a backup.", RESTORE_HELP)
    .requiredOption("--from <url>", "file: or s3: URL of the backup")
    .option("--ends <file...>", "lists of outrigger images ends, made after the backup")
    .option("--absent", "restore all images unknown to the storage, even deleted ones")
    .option("--incomplete", "accept a backup of which no run has finished")
    .action(lazyAction(async () => (await import("./restore.ts")).restore));
}
