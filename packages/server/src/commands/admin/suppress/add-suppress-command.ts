import type { Command } from "commander";
import { lazyAction } from "../../../cli/lazy-action.ts";

const SUPPRESS_HELP = `
What is known of a suppressed person is erased, and from when this ends nothing is told, guessed or asked of them, on any
server or app of the same database, also when they are imported again. Who is suppressed cannot be read from the database:
it has their addresses only as HMACs by the secret. Run it as the user who runs the server, which may be running. Beside an
app that mounts the lookup, name its database (OUTRIGGER_LOOKUP_DATABASE) and its secret (OUTRIGGER_SECRET).

Examples:
  outrigger suppress ada@example.com
  outrigger suppress example.org ada@example.com --data /var/lib/outrigger
  outrigger suppress --remove ada@example.com
  xargs outrigger suppress < addresses.txt

Exit codes: 0 all done, 1 not all (the others are), 2 wrong usage or configuration: none.
`;

/**
 * Adds `outrigger suppress`.
 * @param configHelp What to say about `--config`.
 */
export function addSuppressCommand(program: Command, configHelp: string): void {
  program
    .command("suppress")
    .description("Leave people or whole domains out of the email lookup, for good.")
    .showHelpAfterError("(see outrigger suppress --help)")
    .argument("<subject...>", "email addresses and domains")
    .option("--remove", "take it back: they may be imported again")
    .option("--config <file>", configHelp)
    .option("--data <directory>", "where the database is, unless it is configured (default: ./data)")
    .addHelpText("after", SUPPRESS_HELP)
    .action(lazyAction(async () => (await import("./suppress.ts")).suppress));
}
