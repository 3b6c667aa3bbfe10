import type { Command } from "commander";
import { lazyAction } from "../cli/lazy-action.ts";
import { addBackupCommands } from "./admin/backup/add-backup-commands.ts";
import { addContactsCommand } from "./admin/contacts/add-contacts-command.ts";
import { addImagesCommand } from "./admin/images/add-images-command.ts";
import { addKeysCommand } from "./admin/keys/add-keys-command.ts";
import { addMigrateCommand } from "./admin/migrate/add-migrate-command.ts";
import { addSuppressCommand } from "./admin/suppress/add-suppress-command.ts";

const CONFIG_HELP = "configuration file (default: outrigger.config.json or .mjs, where there is one)";

const SERVE_HELP = `
Every option can also be set by the environment or in a configuration file; what is typed wins over the
environment, the environment over the file, the file over the defaults.

Environment:
  PORT, OUTRIGGER_PORT     as --port; the second wins
  OUTRIGGER_HOST           as --host
  OUTRIGGER_DATA           as --data
  OUTRIGGER_STORAGE        instead of --data: a URL that begins with file:, memory:, redis:, rediss: or s3:, or JSON
                           {"records": "redis://…", "originals": "s3://…", "renditions": "memory:"}
  OUTRIGGER_EXISTING       true: as --existing
  OUTRIGGER_JOB_QUEUE      redis: or rediss: URL of a queue that hands uploads to the server that has time for them
  OUTRIGGER_PUBLIC_URL     address at which the world reaches this server, e.g. https://img.example.com
  OUTRIGGER_SECRET         what PINs and the lookup's keys are derived from, at least 32 bytes; by default one is kept in
                           the data directory, with records in Redis or S3 it is required
  OUTRIGGER_SECRET_FILE    instead of OUTRIGGER_SECRET: a file with a secret in each line, the first signs, all verify
  OUTRIGGER_LOOKUP_DATABASE
                           serves the email lookup, too, from file:path or postgres://user:password@host:port/database
  OUTRIGGER_METRICS_PORT   serves metrics for Prometheus on this port of 127.0.0.1, 0 takes a free one

Configuration file (JSON, or a module with a default export: an object, or a function that returns one):
  {
    "port": 3000, "host": "127.0.0.1", "data": "./data",
    "publicUrl": "https://img.example.com",
    "trustProxy": 1,
    "images": { "maxUploadBytes": 26214400, "rateLimits": { "creates": 60 } },
    "renderer": { "workers": 2, "timeoutMs": 10000 },
    "lookup": { "database": "file:./lookup.db" },
    "log": { "level": "info" }
  }

Examples:
  outrigger serve
  outrigger serve --port 8080 --data /var/lib/outrigger
  outrigger serve --data /mnt/pictures --existing
  outrigger serve --demo
  outrigger serve --host 0.0.0.0 --config /etc/outrigger/outrigger.config.json
  PORT=0 outrigger serve 2>outrigger.log

Signals: SIGTERM and SIGINT end it after what is under way, a second one at once.
Exit codes: 0 ended by a signal, 1 cannot start or failed, 2 wrong usage or configuration.
`;

const DOCTOR_HELP = `
Prints a line for each thing that it looks at: ok, warning, or problem with what helps.

Without a URL these are Node.js, the server's time-outs, the data directory or other storage and its clock, the secret, the
lookup's database, the renderer, and the fonts for text in SVG pictures. What it writes it removes, but the schema of the lookup's database is brought up to
date; a server may be running.
Run it as the user who runs the server. Environment and configuration file: see outrigger serve --help.

With a URL it uses the images that are mounted there as their users do, through whatever proxies stand between: it uploads,
reads, edits and deletes pictures of its own, and says what does not arrive as it should. A private certificate authority is
named by NODE_EXTRA_CA_CERTS.

Examples:
  outrigger doctor
  outrigger doctor --data /var/lib/outrigger
  outrigger doctor https://example.com/img --header "Authorization: Bearer …"
  outrigger doctor --json

Exit codes: 0 no problem, 1 a problem, 2 wrong usage or configuration.
`;

/** Adds the commands that run a server (`serve`, `doctor`) or work on its storage and database. */
export function addServerCommands(program: Command): void {
  program
    .command("serve")
    .description(
      "Serve image hosting, and email lookup where it is configured, over HTTP until a signal ends it.",
    )
    .option("--port <number>", "port to listen on, 0 takes a free one (default: 3000)")
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--config <file>", CONFIG_HELP)
    .option("--data <directory>", "where images are kept; made when missing (default: ./data)")
    .option(
      "--existing",
      "refuse to start where no images were kept before, as on a volume that is not mounted",
    )
    .option("--demo", "serve the email lookup, too, with sample contacts and a key to try it")
    .addHelpText("after", SERVE_HELP)
    .exitOverride()
    .action(lazyAction(async () => (await import("./serve/serve.ts")).serve));
  program
    .command("doctor")
    .description("Check that this machine has what a server needs, or that a mount works from outside.")
    .argument("[url]", "where images are mounted: that is looked at, and not this machine")
    .option("--config <file>", CONFIG_HELP)
    .option("--data <directory>", "where images are or will be kept (default: ./data)")
    .option("--header <header>", "sent with every request to the URL; may be repeated", collect)
    .option("--patience <seconds>", "how long an upload to the URL pauses, 0 to 600 (default: 7)")
    .option("--json", "print one JSON object instead of lines")
    .addHelpText("after", DOCTOR_HELP)
    .exitOverride()
    .action(lazyAction(async () => (await import("./doctor/doctor.ts")).doctor));
  addImagesCommand(program, CONFIG_HELP);
  addBackupCommands(program, CONFIG_HELP);
  addMigrateCommand(program, CONFIG_HELP);
  addContactsCommand(program, CONFIG_HELP);
  addKeysCommand(program, CONFIG_HELP);
  addSuppressCommand(program, CONFIG_HELP);
}

/** Another value of an option that may be repeated. */
function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}
