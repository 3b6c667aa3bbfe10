const ENVIRONMENT = `
Environment:
  OUTRIGGER_URL      as --to
  OUTRIGGER_API_KEY  the key, where no --key-file is given

The key is no option: other users of this machine can see those in the list of processes. outrigger keys create makes
one, outrigger serve --demo prints one.`;

export const FIND_HELP = `
The score is the probability, in percent, that the address is the person's. Where nothing can be said, there is none.
${ENVIRONMENT}

Examples:
  outrigger find --domain example.com --name "Ada Lovelace"
  outrigger find --company "Example Engines" --name "Ada Lovelace" --key-file ~/.config/outrigger.key
  outrigger find --domain example.com --name "Ada Lovelace" --json | jq -r .data.email

Exit codes: 0 answered, also where no address was found, 1 failed, 2 wrong usage, 130 ended by a signal.
`;

export const VERIFY_HELP = `
A line for each address: whether mail to it arrives, why that is said, how good it is from 0 to 100, and the reason where
there is one.
${ENVIRONMENT}

Examples:
  outrigger verify ada.lovelace@example.com
  outrigger verify --to https://example.com/people ada.lovelace@example.com nobody@example.com
  xargs outrigger verify --json < addresses.txt | jq -r 'select(.data.result == "deliverable").data.email'

Exit codes: 0 all answered, also undeliverable ones, 1 not all (the others are), 2 wrong usage, 130 ended by a signal.
`;

export const SEARCH_HELP = `
A line for each address, the surest first: its confidence from 0 to 100, and whose it is.
${ENVIRONMENT}

Examples:
  outrigger search example.com
  outrigger search example.com --type personal --limit 100 --offset 100
  outrigger search example.com --json | jq -r '.data.emails[].value'

Exit codes: 0 answered, also where none is known, 1 failed, 2 wrong usage, 130 ended by a signal.
`;
