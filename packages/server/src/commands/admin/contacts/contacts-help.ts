export const CONTACTS_HELP = `
These commands change the lookup's database: lookup.database of the configuration, OUTRIGGER_LOOKUP_DATABASE, or lookup.db in
the data directory. A running server applies the changes at once. Run them as the user of the server. For an app that mounts
the lookup, set its database and its secret (lookup.secret or OUTRIGGER_SECRET).
Environment and configuration file: see outrigger serve --help.

Examples:
  outrigger contacts import people.csv
  outrigger contacts export people.ndjson
  outrigger contacts erase ada@example.com
  outrigger contacts stats --json

Exit codes: 0 done, 1 something failed, 2 invalid usage or configuration, 130 ended by a signal.
`;

export const IMPORT_HELP = `
Reads CSV whose first line names the columns, or a JSON object per line, both in UTF-8, from a file or standard input
(-). Common column names are recognized (email, first name, job title, source url, …); --map names others. Of several columns
of one field, the first filled one counts. A line replaces the earlier data of its address; pages are kept, with the dates on
which each was first and last seen. Suppressed addresses are skipped. An import may be interrupted at any time; run it again to resume.

Fields: address, type, confidence, firstName, lastName, fullName, position, seniority, department, networkA, networkAUrl,
networkB, phoneNumber, verificationStatus, verificationDate, domain, organization, sourceDomain, sourceUri, extractedOn,
lastSeenOn, stillOnPage.

Examples:
  outrigger contacts import people.csv
  outrigger contacts import people.csv --map "address=E-Mail,position=Role" --bad-lines bad.csv
  zcat people.ndjson.gz | outrigger contacts import - --format ndjson
  outrigger contacts import people.csv --on-bad-line fail --json

Exit codes: 0 done (bad lines and values are reported and skipped), 1 failed, no line could be imported, or a bad line or
value with --on-bad-line fail, 2 invalid usage or configuration, 130 ended by a signal after the work in progress; a second signal ends it at once.
`;

export const EXPORT_HELP = `
Writes all contacts except suppressed people, in the format that import reads: CSV has a line per page of an address, NDJSON
a line per address. Without a file, or with -, the output is standard output. A file is written atomically, readable by you
only.

Examples:
  outrigger contacts export > people.csv
  outrigger contacts export people.ndjson
  outrigger contacts export - --format ndjson | gzip > people.ndjson.gz

Exit codes: 0 done, 1 failed, 2 invalid usage or configuration.
`;

export const ERASE_HELP = `
When the command ends, the erased contacts are gone until they are imported again. To exclude a person permanently, use
outrigger suppress.

Examples:
  outrigger contacts erase ada@example.com charles@example.com
  outrigger contacts erase example.org

Exit codes: 0 all erased, 1 some were unknown or failed, 2 invalid usage or configuration, nothing done.
`;

export const STATS_HELP = `
Reads all contacts.

Examples:
  outrigger contacts stats
  outrigger contacts stats --json | jq .addresses

Exit codes: 0 done, 1 failed, 2 invalid usage or configuration.
`;
