export const CONTACTS_HELP = `
They work on the lookup's database: lookup.database of the configuration, OUTRIGGER_LOOKUP_DATABASE, or lookup.db in the
data directory. A server may be running on it and serves accordingly at once. Run them as the user who runs the server.
Beside an app that mounts the lookup, they need its database and its secret: lookup.secret or OUTRIGGER_SECRET.
Environment and configuration file: see outrigger serve --help.

Examples:
  outrigger contacts import people.csv
  outrigger contacts export people.ndjson
  outrigger contacts erase ada@example.com
  outrigger contacts stats --json

Exit codes: 0 done, 1 something failed, 2 wrong usage or configuration, 130 ended by a signal.
`;

export const IMPORT_HELP = `
Reads CSV whose first line names the columns, or a JSON object per line, both in UTF-8, from a file or the standard input
(-). Columns are known by the usual names (email, first name, job title, url, …); --map names others. What a line says of
an address replaces what was said; pages are kept, each from when it was first to when it was last seen. Suppressed
addresses are left out. An import may be ended at any time and run again: it goes on where it was.

Fields: address, type, confidence, firstName, lastName, fullName, position, seniority, department, networkA, networkAUrl,
networkB, phoneNumber, domain, organization, sourceDomain, sourceUri, extractedOn, lastSeenOn, stillOnPage.

Examples:
  outrigger contacts import people.csv
  outrigger contacts import people.csv --map "address=E-Mail,position=Role" --bad-lines bad.csv
  zcat people.ndjson.gz | outrigger contacts import - --format ndjson
  outrigger contacts import people.csv --on-bad-line fail --json

Exit codes: 0 done (bad lines are told of and left out), 1 failed, or a bad line where --on-bad-line is fail, 2 wrong usage
or configuration, 130 ended by a signal after what was under way; a second signal ends it at once.
`;

export const EXPORT_HELP = `
Everything that is known but suppressed people, as import reads it: in CSV a line for each page of an address, in NDJSON
a line for each address. Without a file, or with -, it goes to the standard output. A file is made for you alone, all of it
or nothing.

Examples:
  outrigger contacts export > people.csv
  outrigger contacts export people.ndjson
  outrigger contacts export - --format ndjson | gzip > people.ndjson.gz

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.
`;

export const ERASE_HELP = `
What is erased is unknown from when this ends, until it is imported again. To leave somebody out for good, use outrigger
suppress.

Examples:
  outrigger contacts erase ada@example.com charles@example.com
  outrigger contacts erase example.org

Exit codes: 0 all erased, 1 not all (of one nothing is known, or it failed), 2 wrong usage or configuration: none.
`;

export const STATS_HELP = `
It reads everything that is known.

Examples:
  outrigger contacts stats
  outrigger contacts stats --json | jq .addresses

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.
`;
