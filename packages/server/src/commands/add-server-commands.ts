import type { Command } from "commander";
import { addDataCommand, type CommandTexts, lazyAction } from "../cli/command.ts";
import { addLookupAdminCommands } from "./admin/add-lookup-admin-commands.ts";
import { addImagesCommand } from "./admin/images/add-images-command.ts";
import { addStorageCommands } from "./admin/storage/add-storage-commands.ts";

const SERVE: CommandTexts = {
  description: "Serve image hosting over HTTP, and email lookup if configured, until a signal ends it.",
  notes: `Options, environment and configuration file set the same keys. Options win over the environment, the environment
over the file, the file over the defaults. The file is JSON, or a module that exports an object or a function by default:

  { "port": 3000, "data": "./data", "trustProxy": 1,
    "publicUrl": "https://img.example.com",
    "images": { "maxUploadBytes": 26214400 },
    "lookup": { "database": "file:./lookup.db" } }

With --check it prints one line for each check: ok, warning or problem, with the remedy. A server may be running.

SIGTERM or SIGINT ends the server after the requests in progress; a second one ends it at once.
`,
  environment: `  PORT, OUTRIGGER_PORT     same as --port; OUTRIGGER_PORT wins
  OUTRIGGER_HOST           same as --host
  OUTRIGGER_DATA           same as --data
  OUTRIGGER_STORAGE        replaces --data: a URL that begins with file:, memory:, redis:, rediss: or s3:, or JSON
                           {"records": "postgres://…", "originals": "s3://…", "renditions": "memory:"}
  OUTRIGGER_EXISTING       true: same as --existing
  OUTRIGGER_PUBLIC_URL     public address of this server, e.g. https://img.example.com
  OUTRIGGER_SECRET         at least 32 bytes from which PINs and the lookup's keys are derived; created in the data
                           directory by default, required with records in a service
  OUTRIGGER_SECRET_FILE    replaces OUTRIGGER_SECRET: a file with one secret per line; the first signs, all verify
  OUTRIGGER_LOOKUP_DATABASE
                           also serves the email lookup, from file:path or postgres://user:password@host:port/database
  OUTRIGGER_METRICS_PORT   serves metrics for Prometheus on this port of 127.0.0.1; 0 picks a free port`,
  examples: `  outrigger serve --port 8080 --data /var/lib/outrigger
  outrigger serve --check --data /var/lib/outrigger
  outrigger serve --demo
  outrigger serve --host 0.0.0.0 --config /etc/outrigger/outrigger.config.json`,
};

/** Adds the commands that run a server or work on its storage and database. */
export function addServerCommands(program: Command): void {
  program.commandsGroup("Server:");
  addDataCommand(program, "serve", SERVE, "directory of the images; created if missing (default: ./data)")
    .option("--port <number>", "port to listen on; 0 picks a free port (default: 3000)")
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--existing", "refuse to start on empty storage, such as a volume that is not mounted")
    .option("--check", "check settings, storage, secret, sandbox and fonts, and do not start")
    .option("--demo", "also serve the email lookup, with sample contacts and a key")
    .action(lazyAction(async () => (await import("./serve/serve.ts")).serve));
  program.commandsGroup("Images:");
  addImagesCommand(program);
  program.commandsGroup("Storage:");
  addStorageCommands(program);
  program.commandsGroup("Lookup:");
  addLookupAdminCommands(program);
}
