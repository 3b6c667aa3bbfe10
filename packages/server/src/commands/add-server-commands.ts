import type { Command } from "commander";
import { CONFIG_HELP } from "../cli/command-group.ts";
import { lazyAction } from "../cli/lazy-action.ts";
import { addLookupAdminCommands } from "./admin/add-lookup-admin-commands.ts";
import { addImagesCommand } from "./admin/images/add-images-command.ts";
import { addStorageCommands } from "./admin/storage/add-storage-commands.ts";

const SERVE_HELP = `
Options, environment and configuration file set the same keys. Options win over the environment, the environment
over the file, the file over the defaults.

Environment:
  PORT, OUTRIGGER_PORT     same as --port; OUTRIGGER_PORT wins
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
  OUTRIGGER_METRICS_PORT   serves metrics for Prometheus on this port of 127.0.0.1; 0 picks a free port

Configuration file (JSON, or a module that exports an object or a function by default):
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

Signals: SIGTERM or SIGINT ends the server after the requests in progress; a second one ends it at once.
Exit codes: 0 ended by a signal, 1 cannot start or failed, 2 invalid usage or configuration.
`;

const DOCTOR_HELP = `
Prints one line for each check: ok, warning or problem, with the remedy.

Without a URL it checks this machine: Node.js, the timeouts of the server, the data directory or other storage and its
clock, the secret, the lookup's database, the renderer, and the fonts for text in SVG pictures. It deletes its test data,
but migrates the schema of the lookup's database. A server may be running.
Run it as the user of the server. Environment and configuration file: see outrigger serve --help.

With a URL it checks the images mounted there from outside, through any proxies in between. It uploads, reads, edits and
deletes its own pictures, and reports what does not arrive unchanged. For a private certificate authority, set
NODE_EXTRA_CA_CERTS.

Examples:
  outrigger doctor
  outrigger doctor --data /var/lib/outrigger
  outrigger doctor https://example.com/img --header "Authorization: Bearer …"
  outrigger doctor --json

Exit codes: 0 no problem, 1 a problem, 2 invalid usage or configuration.
`;

/** Adds the commands that run a server (`serve`, `doctor`) or work on its storage and database. */
export function addServerCommands(program: Command): void {
  program
    .command("serve")
    .description("Serve image hosting over HTTP, and email lookup if configured, until a signal ends it.")
    .option("--port <number>", "port to listen on; 0 picks a free port (default: 3000)")
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--config <file>", CONFIG_HELP)
    .option("--data <directory>", "directory of the images; created if missing (default: ./data)")
    .option("--existing", "refuse to start on empty storage, such as a volume that is not mounted")
    .option("--demo", "also serve the email lookup, with sample contacts and a key")
    .addHelpText("after", SERVE_HELP)
    .exitOverride()
    .action(lazyAction(async () => (await import("./serve/serve.ts")).serve));
  program
    .command("doctor")
    .description("Check that this machine can run a server, or that a mount works from outside.")
    .argument("[url]", "address of mounted images; checks these instead of this machine")
    .option("--config <file>", CONFIG_HELP)
    .option("--data <directory>", "directory of the images (default: ./data)")
    .option("--header <header>", "header of every request to the URL; may be repeated", collect)
    .option("--patience <seconds>", "length of the pause in a slow upload to the URL, 0 to 600 (default: 7)")
    .option("--json", "print one JSON object instead of lines")
    .addHelpText("after", DOCTOR_HELP)
    .exitOverride()
    .action(lazyAction(async () => (await import("./doctor/doctor.ts")).doctor));
  addImagesCommand(program);
  addStorageCommands(program);
  addLookupAdminCommands(program);
}

/** Collects the values of an option that may be repeated. */
function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}
