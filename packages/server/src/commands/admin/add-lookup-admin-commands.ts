import { type Command, Option } from "commander";
import { addCommand, addDataCommand, type CommandTexts, lazyAction } from "../../cli/command.ts";
import { parseAccount, parseEmail, parseEncoding, parseHint, parseMapping } from "../../cli/option-values.ts";

const DATABASE_HELP = "directory of the database, unless configured (default: ./data)";
const EXPORT_FORMATS = ["csv", "ndjson"];
const IMPORT_FORMATS = [...EXPORT_FORMATS, "vcard"];

const NOTES = `Changes the lookup's database: lookup.database of the configuration, OUTRIGGER_LOOKUP_DATABASE, or lookup.db in the data
directory. A running server applies the changes at once. Run it as the user of the server. For an app that mounts the lookup,
set its database and its secret (lookup.secret or OUTRIGGER_SECRET).
`;

const IMPORT: CommandTexts = {
  description: "Import contacts from a file.",
  notes: `Reads exports of mail programs, address books and sales databases: CSV, vCard, or a JSON object per line, in UTF-8, or as
--encoding says. Common column names are recognized; --map names others. docs/contacts.md lists the fields. Suppressed addresses are skipped. Run an
interrupted import again.
`,
  examples: `  outrigger contacts import people.csv --dry-run
  outrigger contacts import people.csv --map address=Kontakt,position=Rolle
  outrigger contacts import kontakte.csv --encoding windows-1252`,
};

const VERIFY: CommandTexts = {
  description: "Verify the addresses of a file, and append the verdicts to another.",
  notes: `Reads the files that import reads, and writes CSV: a line for each address as its verdict arrives. Addresses that the second
file has are skipped, so that an interrupted run continues. Nothing is charged, and suppressed people are skipped. Mail servers
are asked as lookup.smtp of the configuration says.
`,
  examples: "  outrigger contacts verify people.csv verdicts.csv --data /srv/outrigger",
};

const EXPORT: CommandTexts = {
  description: "Write all contacts to a file.",
  notes: "Writes all contacts except suppressed people, in the format that import reads.\n",
  examples: "  outrigger contacts export - --format ndjson | gzip > people.ndjson.gz",
};

const SUPPRESS: CommandTexts = {
  description: "Exclude people or whole domains from the email lookup permanently.",
  notes: `Erases all data about a suppressed person. No server or app on the same database then serves, guesses or probes their
addresses, even if they are imported again.

${NOTES}`,
  examples: `  outrigger suppress example.org ada@example.com --data /var/lib/outrigger
  outrigger suppress --remove ada@example.com`,
};

/** Adds the commands for the database of the lookup: `contacts`, `keys` and `suppress`. */
export function addLookupAdminCommands(program: Command): void {
  addContactsCommand(program);
  addKeysCommand(program);
  addDataCommand(program, "suppress", SUPPRESS, DATABASE_HELP)
    .argument("<subject...>", "email addresses and domains")
    .option("--remove", "end the suppression: they may be imported again")
    .action(lazyAction(async () => (await import("./contacts/stored-contacts.ts")).suppress, "lookup"));
}

function addContactsCommand(program: Command): void {
  const group = addCommand(program, "contacts", {
    description: "Import, export and erase the contacts of the email lookup.",
    notes: NOTES,
    examples: "  outrigger contacts import people.csv",
  });
  const add = (name: string, texts: CommandTexts) => addDataCommand(group, name, texts, DATABASE_HELP);
  const format = (formats: readonly string[], preset: string) =>
    new Option("--format <format>", `format of the file (default: from its ${preset})`).choices(formats);

  add("import", IMPORT)
    .argument("<file>", "CSV, NDJSON or vCard; - for standard input")
    .addOption(format(IMPORT_FORMATS, "name or content"))
    .option("--encoding <name>", "e.g. windows-1252 (default: UTF-8)", parseEncoding)
    .option("--map <fields>", "columns of the fields: field=column,…", parseMapping)
    .addOption(
      new Option("--on-bad-line <what>", "action for lines that cannot be imported")
        .choices(["skip", "fail"])
        .default("skip"),
    )
    .option("--dry-run", "print the field of each column and three contacts, and store nothing")
    .option("--json", "print one JSON object at the end")
    .action(lazyAction(async () => (await import("./contacts/import-contacts.ts")).importFile, "lookup"));
  add("verify", VERIFY)
    .argument("<file>", "CSV, NDJSON or vCard; - for standard input")
    .argument("<verdicts>", "CSV file of the verdicts")
    .option("--encoding <name>", "e.g. windows-1252 (default: UTF-8)", parseEncoding)
    .option("--map <fields>", "column of the addresses: address=column", parseMapping)
    .action(lazyAction(async () => (await import("./contacts/verify-contacts.ts")).verifyFile, "lookup"));
  add("export", EXPORT)
    .argument("[file]", "- for standard output", "-")
    .addOption(format(EXPORT_FORMATS, "name"))
    .action(lazyAction(async () => (await import("./contacts/stored-contacts.ts")).exportFile, "lookup"));
  add("erase", {
    description: "Erase addresses or whole domains until they are imported again.",
    notes: "The page index does not store them again, unless outrigger suppress --remove allows it.\n",
    examples: "  outrigger contacts erase ada@example.com charles@example.com",
  })
    .argument("<subject...>", "email addresses and domains")
    .action(lazyAction(async () => (await import("./contacts/stored-contacts.ts")).erase, "lookup"));
}

function addKeysCommand(program: Command): void {
  const group = addCommand(program, "keys", {
    description: "Create, list and revoke keys to the email lookup.",
    notes: NOTES,
    examples: "  outrigger keys create --account acme --email it@acme.example",
  });
  const add = (name: string, texts: CommandTexts) => addDataCommand(group, name, texts, DATABASE_HELP);
  add("create", {
    description: "Create a key, and an account if it does not exist.",
    notes: "The key is printed only once: the database stores its hash.\n",
    examples: "  outrigger keys create --account acme --json | jq -r .key",
  })
    .option("--account <id>", "account of the key (default: a new account with a random ID)", parseAccount)
    .option("--email <address>", "email address of a new account", parseEmail)
    .option("--plan <name>", "plan of a new account (default: free)")
    .option("--json", "print one JSON object")
    .action(lazyAction(async () => (await import("./keys.ts")).createKey, "lookup"));
  add("list", {
    description: "List accounts and the first six characters of their keys.",
    examples: "  outrigger keys list --json | jq -r 'select(.revokedAt == null) | .account'",
  })
    .option("--json", "print a JSON object per line")
    .action(lazyAction(async () => (await import("./keys.ts")).listKeys, "lookup"));
  add("revoke", {
    description: "Revoke a key on every server at once. This cannot be undone.",
    examples: "  outrigger keys revoke acme 79a034",
  })
    .argument("<account>", "ID of the account", parseAccount)
    .argument("<hint>", "first characters of the key", parseHint)
    .action(lazyAction(async () => (await import("./keys.ts")).revokeKeys, "lookup"));
}
