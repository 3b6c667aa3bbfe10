import { type Command, Option } from "commander";
import {
  addCommand,
  addGroup,
  DATABASE_HELP,
  EXIT_CODES,
  EXIT_CODES_OF_SEVERAL,
} from "../../cli/command-group.ts";
import { lazyAction } from "../../cli/lazy-action.ts";
import { parseAccount, parseEmail, parseHint } from "../../cli/option-values.ts";
import { parseMapping } from "./contacts/import-options.ts";

const CONTACTS_HELP = `
These commands change the lookup's database: lookup.database of the configuration, OUTRIGGER_LOOKUP_DATABASE, or lookup.db in
the data directory. A running server applies the changes at once. Run them as the user of the server. For an app that mounts
the lookup, set its database and its secret (lookup.secret or OUTRIGGER_SECRET).
Environment and configuration file: see outrigger serve --help.

Examples:
  outrigger contacts import people.csv

Exit codes: 0 done, 1 something failed, 2 invalid usage or configuration, 130 ended by a signal.
`;

const IMPORT_HELP = `
Reads CSV whose first line names the columns, or a JSON object per line, both in UTF-8, from a file or standard input
(-). Common column names are recognized (email, first name, job title, source url, …); --map names others. Of several columns
of one field, the first filled one counts. A line replaces the earlier data of its address; pages are kept, with the dates on
which each was first and last seen. Suppressed addresses are skipped. An import may be interrupted at any time; run it again to resume.

Fields: address, type, confidence, firstName, lastName, fullName, position, seniority, department, networkA, networkAUrl,
networkB, phoneNumber, verificationStatus, verificationDate, domain, organization, sourceDomain, sourceUri, extractedOn,
lastSeenOn, stillOnPage.

Examples:
  outrigger contacts import people.csv --map "address=E-Mail,position=Role" --bad-lines bad.csv
  zcat people.ndjson.gz | outrigger contacts import - --format ndjson

Exit codes: 0 done (bad lines and values are reported and skipped), 1 failed, no line could be imported, or a bad line or
value with --on-bad-line fail, 2 invalid usage or configuration, 130 ended by a signal after the work in progress; a second signal ends it at once.
`;

const EXPORT_HELP = `
Writes all contacts except suppressed people, in the format that import reads: CSV has a line per page of an address, NDJSON
a line per address. Without a file, or with -, the output is standard output. A file is written atomically, readable by you
only.

Examples:
  outrigger contacts export - --format ndjson | gzip > people.ndjson.gz

${EXIT_CODES}
`;

const ERASE_HELP = `
When the command ends, the erased contacts are gone until they are imported again. To exclude a person permanently, use
outrigger suppress.

Examples:
  outrigger contacts erase ada@example.com charles@example.com

Exit codes: 0 all erased, 1 some were unknown or failed, 2 invalid usage or configuration, nothing done.
`;

const CONTACTS_STATS_HELP = `
Reads all contacts.

Examples:
  outrigger contacts stats --json | jq .addresses

${EXIT_CODES}
`;

const KEYS_HELP = `
These commands change the lookup's database: lookup.database of the configuration, OUTRIGGER_LOOKUP_DATABASE, or lookup.db in
the data directory. A running server applies the changes at once. Run them as the user of the server. Environment and
configuration file: see outrigger serve --help.

Examples:
  outrigger keys create --account acme --email it@acme.example

${EXIT_CODES}
`;

const CREATE_HELP = `
The key is printed only once: the database stores its hash. An existing account gets an additional key.

Examples:
  outrigger keys create --account acme --json | jq -r .key

${EXIT_CODES}
`;

const KEYS_LIST_HELP = `
The list shows the first six characters of each key.

Examples:
  outrigger keys list --json | jq -r 'select(.revokedAt == null) | .account'

${EXIT_CODES}
`;

const REVOKE_HELP = `
When the command ends, every server on the same database answers 401 to a revoked key. This cannot be undone.

Examples:
  outrigger keys revoke acme 79a034

Exit codes: 0 revoked, 1 there is no such key, or it failed, 2 invalid usage or configuration.
`;

const SUPPRESS_HELP = `
Erases all data about a suppressed person. When the command ends, no server or app on the same database serves, guesses or
probes their addresses, even if they are imported again. The database stores suppressed addresses only as HMACs, so it does
not reveal them. Run the command as the user of the server, which may be running. For an app that mounts the lookup, set
its database (OUTRIGGER_LOOKUP_DATABASE) and its secret (OUTRIGGER_SECRET).

Examples:
  outrigger suppress example.org ada@example.com --data /var/lib/outrigger
  outrigger suppress --remove ada@example.com

${EXIT_CODES_OF_SEVERAL}
`;

const FORMATS = ["csv", "ndjson"];

/** Adds the commands for the database of the lookup: `contacts`, `keys` and `suppress`. */
export function addLookupAdminCommands(program: Command): void {
  addContactsCommand(program);
  addKeysCommand(program);
  addCommand(
    program,
    "suppress",
    "suppress",
    ["Exclude people or whole domains from the email lookup permanently.", SUPPRESS_HELP],
    DATABASE_HELP,
  )
    .argument("<subject...>", "email addresses and domains")
    .option("--remove", "end the suppression: they may be imported again")
    .action(lazyAction(async () => (await import("./contacts/stored-contacts.ts")).suppress, "lookup"));
}

function addContactsCommand(program: Command): void {
  const add = addGroup(program, "contacts", {
    description: "Import, export, erase and count the contacts of the email lookup.",
    help: CONTACTS_HELP,
    dataHelp: DATABASE_HELP,
  });
  const format = () =>
    new Option("--format <format>", "format of the file (default: from its name)").choices(FORMATS);

  add("import", "Import contacts from a file.", IMPORT_HELP)
    .argument("<file>", "CSV or NDJSON; - for standard input")
    .addOption(format())
    .option("--map <fields>", "columns of the fields: field=column,…", parseMapping)
    .addOption(
      new Option("--on-bad-line <what>", "action for lines that cannot be imported")
        .choices(["skip", "fail"])
        .default("skip"),
    )
    .option("--bad-lines <file>", "write the number and reason of every bad line to this CSV file")
    .option("--json", "print one JSON object at the end")
    .option("--quiet", "show no progress")
    .action(lazyAction(async () => (await import("./contacts/import-contacts.ts")).importFile, "lookup"));
  add("export", "Write all contacts to a file.", EXPORT_HELP)
    .argument("[file]", "- for standard output", "-")
    .addOption(format())
    .action(lazyAction(async () => (await import("./contacts/stored-contacts.ts")).exportFile, "lookup"));
  add("erase", "Erase addresses or whole domains.", ERASE_HELP)
    .argument("<subject...>", "email addresses and domains")
    .action(lazyAction(async () => (await import("./contacts/stored-contacts.ts")).erase, "lookup"));
  add("stats", "Count contacts.", CONTACTS_STATS_HELP)
    .option("--json", "print one JSON object")
    .action(lazyAction(async () => (await import("./contacts/stored-contacts.ts")).stats, "lookup"));
}

function addKeysCommand(program: Command): void {
  const add = addGroup(program, "keys", {
    description: "Create, list and revoke keys to the email lookup.",
    help: KEYS_HELP,
    dataHelp: DATABASE_HELP,
  });
  add("create", "Create a key, and an account if it does not exist.", CREATE_HELP)
    .option("--account <id>", "account of the key (default: a new account with a random ID)", parseAccount)
    .option("--email <address>", "email address of a new account", parseEmail)
    .option("--plan <name>", "plan of a new account (default: free)")
    .option("--json", "print one JSON object")
    .action(lazyAction(async () => (await import("./keys.ts")).createKey, "lookup"));
  add("list", "List accounts and their keys.", KEYS_LIST_HELP)
    .option("--json", "print a JSON object per line")
    .action(lazyAction(async () => (await import("./keys.ts")).listKeys, "lookup"));
  add("revoke", "Revoke a key.", REVOKE_HELP)
    .argument("<account>", "ID of the account", parseAccount)
    .argument("<hint>", "first characters of the key", parseHint)
    .action(lazyAction(async () => (await import("./keys.ts")).revokeKeys, "lookup"));
}
