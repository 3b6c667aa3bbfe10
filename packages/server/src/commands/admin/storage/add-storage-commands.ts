import type { Command } from "commander";
import { addCommand, CONFIG_HELP, type CommandTexts, DATA_HELP, lazyAction } from "../../../cli/command.ts";
import { parseConcurrency } from "../../../cli/option-values.ts";

const BACKUP: CommandTexts = {
  description: "Copy images and the lookup's database to a backup, also while a server runs.",
  notes: `Copies records and originals, including uploads in processing, and the database of the lookup. Everything copied is read back
and compared. A further run copies changes and removes deleted images. Damaged images of the source are reported, and the
backup keeps the intact copy of an earlier run. PostgreSQL is copied with pg_dump, which must be on PATH. The secret of PINs is
not copied. No PIN works without it, so store it separately, or add it to a directory with --with-secret.
`,
  examples: `  outrigger backup --to file:/backup/images --data /var/lib/outrigger --with-secret
  OUTRIGGER_STORAGE=redis://127.0.0.1:6379 outrigger backup --to "s3://backups/images?region=eu-central-1"`,
};

const RESTORE: CommandTexts = {
  description: "Restore images and the lookup's database from a backup.",
  notes: `Fills the storage of the configuration (see outrigger serve --help). Run it before the service starts. Empty storage gets
the content of the backup. The lookup's database and the secret are restored if missing.

Storage with images gets the missing images, also while a service runs. Existing, deleted and withheld images are not
changed. An unknown image is restored if its deletion would still be recorded: the backup is younger than
images.tombstoneDays (30), or lists of ends cover the time since.
`,
  examples:
    "  outrigger restore --from file:/backup/images --data /var/lib/outrigger --ends /backup/ends.ndjson",
};

const MIGRATE: CommandTexts = {
  description: "Copy all images from one storage to another, and later update the copy.",
  notes: `A further run copies later changes of the source and removes keys that the source no longer has. A server may therefore run
during the first copies, and has to stop only for the last run. A server rejects an incomplete target. Once a server has started
on the target, the migration has ended.

Storage is written as in OUTRIGGER_STORAGE: a URL that begins with file:, redis:, rediss: or s3:, or JSON
{"records": "postgres://…", "originals": "s3://…", "renditions": "s3://…"}.

PINs are derived from a secret. A directory stores it; Redis and S3 do not. --secret-file writes it to a file of mode 0600
for OUTRIGGER_SECRET_FILE of the new server.
`,
  examples: `  outrigger migrate --from file:./data --to redis://127.0.0.1:6379 --secret-file ./secret
  outrigger migrate --from redis://127.0.0.1:6379 --to file:./data --verify`,
};

/** Adds `outrigger backup`, `outrigger restore` and `outrigger migrate`. */
export function addStorageCommands(program: Command): void {
  const add = (name: string, texts: CommandTexts) =>
    addCommand(program, name, texts)
      .option("--config <file>", CONFIG_HELP)
      .option("--concurrency <number>", "keys copied at a time (default: 8)", parseConcurrency)
      .option("--json", "print one JSON object at the end")
      .option("--quiet", "show no progress");
  add("backup", BACKUP)
    .requiredOption("--to <url>", "file: or s3: URL of the backup; empty, or from an earlier run")
    .option("--data <directory>", DATA_HELP)
    .option("--with-secret", "add the secret, in a file of mode 0600; only to a directory")
    .option("--verify", "also read and compare keys already in the backup")
    .action(lazyAction(async () => (await import("./backup.ts")).backup));
  add("restore", RESTORE)
    .requiredOption("--from <url>", "file: or s3: URL of the backup")
    .option("--data <directory>", DATA_HELP)
    .option("--ends <file...>", "lists of outrigger images ends, made after the backup")
    .option("--absent", "restore all images unknown to the storage, even deleted ones")
    .option("--incomplete", "accept a backup of which no run has finished")
    .action(lazyAction(async () => (await import("./restore.ts")).restore));
  add("migrate", MIGRATE)
    .requiredOption("--from <storage>", "source: a URL, or JSON with a URL for each role")
    .requiredOption("--to <storage>", "target, in the same form; empty, or from an earlier run")
    .option("--secret-file <file>", "write the secret of PINs to this file, for OUTRIGGER_SECRET_FILE")
    .option("--without-renditions", "skip other formats and sizes: they are rendered again on request")
    .option("--verify", "also read and compare keys that both sides already have")
    .action(lazyAction(async () => (await import("./migrate.ts")).migrate));
}
