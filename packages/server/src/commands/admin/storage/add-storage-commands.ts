import type { Command } from "commander";
import { addCommand, CONFIG_HELP, type CommandTexts, DATA_HELP, lazyAction } from "../../../cli/command.ts";
import { parseConcurrency } from "../../../cli/option-values.ts";

const BACKUP: CommandTexts = {
  description: "Copy images to a backup, also while a server runs.",
  notes: `Copies and reads back records and originals. A further run copies changes. No PIN works without the secret: store it
separately, or add it with --with-secret. docs/operating.md has the lookup's database.
`,
  examples: `  outrigger backup --to file:/backup/images --data ./data --with-secret
  OUTRIGGER_STORAGE=redis://127.0.0.1:6379 outrigger backup \\
    --to "s3://backups/images?region=eu-central-1"`,
};

const RESTORE: CommandTexts = {
  description: "Restore images from a backup.",
  notes: `Fills empty storage of the configuration before the service starts, or adds missing images to storage in use. Existing,
deleted and withheld images are not changed. See docs/operating.md for images that may have been deleted since the backup.
`,
  examples: `  outrigger restore --from file:/backup/images --data /var/lib/outrigger \\
    --ends /backup/ends.ndjson`,
};

const MIGRATE: CommandTexts = {
  description: "Copy all images from one storage to another, and later update the copy.",
  notes: `A further run updates the copy, so a server stops only for the last run, and then starts on the target. Storage is
written as in OUTRIGGER_STORAGE. PINs are derived from a secret that only a directory stores: see --secret-file.
`,
  examples: `  outrigger migrate --from file:./data --to redis://127.0.0.1:6379 \\
    --secret-file ./secret
  outrigger migrate --from redis://127.0.0.1:6379 --to file:./data --verify`,
};

/** Adds `outrigger backup`, `outrigger restore` and `outrigger migrate`. */
export function addStorageCommands(program: Command): void {
  const add = (name: string, texts: CommandTexts) =>
    addCommand(program, name, texts)
      .option("--config <file>", CONFIG_HELP)
      .option("--concurrency <number>", "keys copied at a time (default: 8)", parseConcurrency)
      .option("--json", "print one JSON object at the end");
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
