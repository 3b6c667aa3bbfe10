import type { Command } from "commander";
import { lazyAction } from "../../../cli/lazy-action.ts";
import { parseAccount, parseEmail, parseHint } from "../../../cli/option-values.ts";
import { CREATE_HELP, KEYS_HELP, LIST_HELP, REVOKE_HELP } from "./keys-help.ts";

const JSON_FLAG = "--json";

/**
 * Adds `outrigger keys` with its commands.
 * @param configHelp Help text of `--config`.
 */
export function addKeysCommand(program: Command, configHelp: string): void {
  const keys = program
    .command("keys")
    .description("Create, list and revoke keys to the email lookup.")
    .showHelpAfterError("(see outrigger keys --help)")
    .addHelpText("after", KEYS_HELP);

  /** A subcommand with the shared options. */
  function add(name: string, description: string, help: string): Command {
    return keys
      .command(name)
      .description(description)
      .showHelpAfterError(`(see outrigger keys ${name} --help)`)
      .option("--config <file>", configHelp)
      .option("--data <directory>", "directory of the database, unless configured (default: ./data)")
      .addHelpText("after", help);
  }

  add("create", "Create a key, and an account if it does not exist.", CREATE_HELP)
    .option("--account <id>", "account of the key (default: a new account with a random ID)", parseAccount)
    .option("--email <address>", "email address of a new account", parseEmail)
    .option("--plan <name>", "plan of a new account (default: free)")
    .option(JSON_FLAG, "print one JSON object")
    .action(lazyAction(async () => (await import("./change-keys.ts")).createKey, "lookup"));
  add("list", "List accounts and their keys.", LIST_HELP)
    .option(JSON_FLAG, "print a JSON object per line")
    .action(lazyAction(async () => (await import("./list-keys.ts")).listKeys, "lookup"));
  add("revoke", "Revoke a key.", REVOKE_HELP)
    .argument("<account>", "ID of the account", parseAccount)
    .argument("<hint>", "first characters of the key", parseHint)
    .action(lazyAction(async () => (await import("./change-keys.ts")).revokeKeys, "lookup"));
}
