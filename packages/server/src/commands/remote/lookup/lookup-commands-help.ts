const ENVIRONMENT = `
Environment:
  OUTRIGGER_URL      same as --to
  OUTRIGGER_API_KEY  the key, unless --key-file is given

The key is not an option, because other users of this machine can see options in the list of processes. Create a key with
outrigger keys create; outrigger serve --demo prints one.`;

export const FIND_HELP = `
The score is the probability in percent that the address belongs to the person. Without enough evidence, no address is
printed.
${ENVIRONMENT}

Examples:
  outrigger find --domain example.com --name "Ada Lovelace"
  outrigger find --company "Example Engines" --name "Ada Lovelace" --key-file ~/.config/outrigger.key
  outrigger find --domain example.com --name "Ada Lovelace" --json | jq -r .data.email

Exit codes: 0 answered, even if no address was found, 1 failed, 2 invalid usage, 130 ended by a signal.
`;

export const VERIFY_HELP = `
Prints one line per address: the result, the status, a score from 0 to 100, and the reason if there is one.

--csv sends a file whose first line names the columns, one of them email, and prints it with columns for the results. The
service verifies it in the background, also after Ctrl-C or a restart: --id continues with the ID that is printed at the
start. Each address counts like a single verification; a list is kept for 30 days.
${ENVIRONMENT}

Examples:
  outrigger verify ada.lovelace@example.com
  outrigger verify --to https://example.com/people ada.lovelace@example.com charles@example.com
  outrigger verify --csv people.csv --out verified.csv
  outrigger verify --id 3q2-7wQdY0mJcX8bRkLh1A --out verified.csv
  xargs outrigger verify --json < addresses.txt | jq -r 'select(.data.result == "deliverable").data.email'

Exit codes: 0 all answered, even if undeliverable, 1 some failed or beyond the allowance, 2 invalid usage, 130 ended by a signal.
`;

export const SEARCH_HELP = `
Prints one line per address, highest confidence first: the confidence from 0 to 100, and the person.
${ENVIRONMENT}

Examples:
  outrigger search example.com
  outrigger search example.com --type personal --limit 100 --offset 100
  outrigger search example.com --titles "CTO,Head of Engineering" --required phone_number
  outrigger search example.com --json | jq -r '.data.emails[].value'

Exit codes: 0 answered, even if no address is known, 1 failed, 2 invalid usage, 130 ended by a signal.
`;
