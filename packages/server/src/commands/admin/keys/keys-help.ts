export const KEYS_HELP = `
These commands change the lookup's database: lookup.database of the configuration, OUTRIGGER_LOOKUP_DATABASE, or lookup.db in
the data directory. A running server applies the changes at once. Run them as the user of the server. Environment and
configuration file: see outrigger serve --help.

Examples:
  outrigger keys create --account acme --email it@acme.example
  outrigger keys list
  outrigger keys revoke acme 79a034

Exit codes: 0 done, 1 something failed, 2 invalid usage or configuration.
`;

export const CREATE_HELP = `
The key is printed only once: the database stores its hash. An existing account gets an additional key.

Examples:
  outrigger keys create
  outrigger keys create --account acme --email it@acme.example --plan free
  outrigger keys create --account acme --json | jq -r .key

Exit codes: 0 done, 1 failed, 2 invalid usage or configuration.
`;

export const LIST_HELP = `
The list shows the first six characters of each key.

Examples:
  outrigger keys list
  outrigger keys list --json | jq -r 'select(.revokedAt == null) | .account'

Exit codes: 0 done, 1 failed, 2 invalid usage or configuration.
`;

export const REVOKE_HELP = `
When the command ends, every server on the same database answers 401 to a revoked key. This cannot be undone.

Examples:
  outrigger keys revoke acme 79a034

Exit codes: 0 revoked, 1 there is no such key, or it failed, 2 invalid usage or configuration.
`;
