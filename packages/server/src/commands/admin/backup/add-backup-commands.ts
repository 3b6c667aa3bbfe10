import type { Command } from "commander";
import { lazyAction } from "../../../cli/lazy-action.ts";
import { parseConcurrency } from "../migrate/parse-concurrency.ts";
import { BACKUP_HELP, RESTORE_HELP } from "./backup-help.ts";

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
