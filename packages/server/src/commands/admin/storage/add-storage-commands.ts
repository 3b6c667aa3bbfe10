import type { Command } from "commander";
import { CONFIG_HELP } from "../../../cli/command-group.ts";
import { lazyAction } from "../../../cli/lazy-action.ts";
import { parseConcurrency } from "../../../cli/option-values.ts";

const BACKUP_HELP = `
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

const RESTORE_HELP = `
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

const MIGRATE_HELP = `
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

/** Adds `outrigger backup`, `outrigger restore` and `outrigger migrate`. */
export function addStorageCommands(program: Command): void {
  /** A command with the options of all. */
  function add(name: string, description: string, help: string): Command {
    return program
      .command(name)
      .description(description)
      .showHelpAfterError(`(see outrigger ${name} --help)`)
      .option("--config <file>", CONFIG_HELP)
      .option("--concurrency <number>", "keys copied at a time (default: 8)", parseConcurrency)
      .option("--json", "print one JSON object at the end, and progress as lines of JSON")
      .option("--quiet", "show no progress")
      .addHelpText("after", help);
  }

  const data = ["--data <directory>", "directory of the images (default: ./data)"] as const;
  add("backup", "Copy images and the lookup's database to a backup, also while a server runs.", BACKUP_HELP)
    .requiredOption("--to <url>", "file: or s3: URL of the backup; empty, or from an earlier run")
    .option(...data)
    .option("--with-secret", "add the secret, in a file of mode 0600; only to a directory")
    .option("--verify", "also read and compare keys already in the backup")
    .action(lazyAction(async () => (await import("./backup.ts")).backup));
  add("restore", "Restore images and the lookup's database from a backup.", RESTORE_HELP)
    .requiredOption("--from <url>", "file: or s3: URL of the backup")
    .option(...data)
    .option("--ends <file...>", "lists of outrigger images ends, made after the backup")
    .option("--absent", "restore all images unknown to the storage, even deleted ones")
    .option("--incomplete", "accept a backup of which no run has finished")
    .action(lazyAction(async () => (await import("./restore.ts")).restore));
  add("migrate", "Copy all images from one storage to another, and later update the copy.", MIGRATE_HELP)
    .requiredOption("--from <storage>", "source: a URL, or JSON with a URL for each role")
    .requiredOption("--to <storage>", "target, in the same form; empty, or from an earlier run")
    .option("--secret-file <file>", "write the secret of PINs to this file, for OUTRIGGER_SECRET_FILE")
    .option("--without-renditions", "skip other formats and sizes: they are rendered again on request")
    .option("--verify", "also read and compare keys that both sides already have")
    .action(lazyAction(async () => (await import("./migrate.ts")).migrate));
}
