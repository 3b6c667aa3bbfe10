import type { Command } from "commander";
import { lazyAction } from "../../../cli/lazy-action.ts";

const SUPPRESS_HELP = `
Erases all data about a suppressed person. When the command ends, no server or app on the same database serves, guesses or
probes their addresses, even if they are imported again. The database stores suppressed addresses only as HMACs, so it does
not reveal them. Run the command as the user of the server, which may be running. For an app that mounts the lookup, set
its database (OUTRIGGER_LOOKUP_DATABASE) and its secret (OUTRIGGER_SECRET).

Examples:
  outrigger suppress ada@example.com
  outrigger suppress example.org ada@example.com --data /var/lib/outrigger
  outrigger suppress --remove ada@example.com
  xargs outrigger suppress < addresses.txt

Exit codes: 0 all done, 1 some failed, 2 invalid usage or configuration, nothing done.
`;

/**
 * Adds `outrigger suppress`.
 * @param configHelp Help text of `--config`.
 */
export function addSuppressCommand(program: Command, configHelp: string): void {
  program
    .command("suppress")
    .description("Exclude people or whole domains from the email lookup permanently.")
    .showHelpAfterError("(see outrigger suppress --help)")
    .argument("<subject...>", "email addresses and domains")
    .option("--remove", "end the suppression: they may be imported again")
    .option("--config <file>", configHelp)
    .option("--data <directory>", "directory of the database, unless configured (default: ./data)")
    .addHelpText("after", SUPPRESS_HELP)
    .action(lazyAction(async () => (await import("./suppress.ts")).suppress, "lookup"));
}
