import type { Command } from "commander";
import { lazyAction } from "../../../cli/lazy-action.ts";
import { parseConcurrency } from "../../../cli/option-values.ts";

export const BACKUP_HELP = `
Copies records and originals, uploads in processing too, and the database of the lookup, while the service runs: each
image as it is before or after an edit. What is copied is read back and compared. Renditions are left out: they are drawn
again. Run again, it copies what has changed and removes what is gone. What is damaged at the source is named, and the
backup keeps the good copy of an earlier run.

The storage and the lookup's database are those of the configuration, see outrigger serve --help. PostgreSQL is copied by
pg_dump, which must be on PATH. The secret that PINs are derived from is left out: without it no PIN works, so keep it apart,
or add it to a directory of mode 0600 by --with-secret.

Examples:
  outrigger backup --to file:/backup/images
  outrigger backup --to file:/backup/images --data /var/lib/outrigger --with-secret
  OUTRIGGER_STORAGE=redis://127.0.0.1:6379 outrigger backup --to "s3://backups/images?region=eu-central-1"

Exit codes: 0 the backup is whole, 1 it is not, the source is damaged, or the lookup is not in it, 2 wrong usage or
configuration, 130 ended by a signal after what was under way; a second signal ends it at once.
`;

export const RESTORE_HELP = `
Fills the storage of the configuration (see outrigger serve --help) from a backup. Run it before the service starts. An empty
storage becomes what the backup has; the lookup's database and the secret are put back where there are none.

A storage that has images gets what it lacks, also while a service runs. No image that is there, or that it remembers as
deleted or withheld, is changed. An image that it does not know comes back if it cannot have been deleted and forgotten
since: the backup is younger than images.tombstoneDays (30), or lists of ends fill the time between. Expired images do
not come back, suppressions of the lookup are never removed.

Examples:
  outrigger restore --from file:/backup/images
  outrigger restore --from file:/backup/images --data /var/lib/outrigger --ends /backup/ends.ndjson
  OUTRIGGER_STORAGE=redis://127.0.0.1:6379 OUTRIGGER_SECRET_FILE=./secret outrigger restore --from s3://backups/images

Exit codes: 0 all is there, 1 something is not, 2 wrong usage or configuration, 130 ended by a signal after what was under
way; a second signal ends it at once.
`;

/**
 * Adds `outrigger backup` and `outrigger restore`.
 * @param configHelp What to say about `--config`.
 */
export function addBackupCommands(program: Command, configHelp: string): void {
  /** A command with what both of them have. */
  function add(name: string, description: string, help: string): Command {
    return program
      .command(name)
      .description(description)
      .showHelpAfterError(`(see outrigger ${name} --help)`)
      .option("--config <file>", configHelp)
      .option("--data <directory>", "where the images are (default: ./data)")
      .option("--concurrency <number>", "keys that are copied at a time (default: 8)", parseConcurrency)
      .option("--json", "print one JSON object at the end")
      .option("--quiet", "no progress")
      .addHelpText("after", help);
  }

  add("backup", "Copy images and the lookup's database to a backup, also while a server runs.", BACKUP_HELP)
    .requiredOption("--to <url>", "file: or s3: URL of the backup; empty, or from an earlier run")
    .option("--with-secret", "add the secret, in a file of mode 0600; only to a directory")
    .option("--verify", "also read and compare what the backup has already")
    .action(lazyAction(async () => (await import("./backup.ts")).backup));
  add("restore", "Bring images and the lookup's database back from a backup.", RESTORE_HELP)
    .requiredOption("--from <url>", "file: or s3: URL of the backup")
    .option("--ends <file...>", "lists of outrigger images ends, made after the backup")
    .option("--absent", "bring back all images that the storage does not know: deleted ones may come back")
    .option("--incomplete", "take a backup of which no run has ended")
    .action(lazyAction(async () => (await import("./restore.ts")).restore));
}
