export const KEYS_HELP = `
They work on the lookup's database: lookup.database of the configuration, OUTRIGGER_LOOKUP_DATABASE, or lookup.db in the
data directory. A server may be running on it and obeys at once. Run them as the user who runs the server. Environment and
configuration file: see outrigger serve --help.

Examples:
  outrigger keys create --account acme --email it@acme.example
  outrigger keys list
  outrigger keys revoke acme 79a034

Exit codes: 0 done, 1 something failed, 2 wrong usage or configuration.
`;

export const CREATE_HELP = `
The key is printed once: only its hash is kept. Of an account that is there, it is another key beside those that it has.

Examples:
  outrigger keys create
  outrigger keys create --account acme --email it@acme.example --plan free
  outrigger keys create --account acme --json | jq -r .key

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.
`;

export const LIST_HELP = `
Keys are told apart by their first six characters.

Examples:
  outrigger keys list
  outrigger keys list --json | jq -r 'select(.revokedAt == null) | .account'

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.
`;

export const REVOKE_HELP = `
A revoked key answers 401 on every server of the same database from when this ends. It cannot be undone.

Examples:
  outrigger keys revoke acme 79a034

Exit codes: 0 revoked, 1 there is no such key, or it failed, 2 wrong usage or configuration.
`;
