export const IMAGES_HELP = `
They work on the data directory or other storage; a server may be running on it and serves accordingly at once. Run them
as the user who runs the server. Environment and configuration file: see outrigger serve --help.

Examples:
  outrigger images withhold https://img.example.com/Yk3fPq0bT1mVxR8aZ2cLdw --reason "Claim of copyright"
  outrigger images list --state withheld
  outrigger images stats --json

Exit codes: 0 done, 1 something failed, 2 wrong usage or configuration.
`;

export const WITHHOLD_HELP = `
Every address of a withheld image answers 451 with the reason, from when this ends. Nothing is deleted: release undoes
it. What was withheld already gets the new reason. Images are named by ID or by any of their addresses.

Examples:
  outrigger images withhold Yk3fPq0bT1mVxR8aZ2cLdw --reason "Claim of copyright, case 4711"
  outrigger images withhold https://img.example.com/Yk3fPq0bT1mVxR8aZ2cLdw/view \\
    --reason "Order of the district court" --authority https://img.example.com/legal/4711 --delete-after 2030-01-31
  xargs outrigger images withhold --reason "Under review" < addresses.txt

Exit codes: 0 all withheld, 1 not all (the others are), 2 wrong usage or configuration: none.
`;

export const RELEASE_HELP = `
Examples:
  outrigger images release Yk3fPq0bT1mVxR8aZ2cLdw
  outrigger images list --state withheld --json | jq -r .id | xargs outrigger images release

Exit codes: 0 all released, 1 not all (the others are), 2 wrong usage or configuration: none.
`;

export const REMOVE_HELP = `
Deletes as the PIN of an image would: its addresses answer 410, its bytes are gone when this ends. It cannot be undone.

Examples:
  outrigger images rm Yk3fPq0bT1mVxR8aZ2cLdw
  outrigger images rm --yes https://img.example.com/api/images/Yk3fPq0bT1mVxR8aZ2cLdw.png

Exit codes: 0 all deleted, 1 not all (the others are) or the answer was no, 2 wrong usage or configuration: none.
`;

export const LIST_HELP = `
In no particular order, and each as it is read, so that any number of them costs no memory.

Examples:
  outrigger images list | head
  outrigger images list --state withheld
  outrigger images list --owner alice --json | jq -r .id

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.
`;

export const STATS_HELP = `
The bytes are those of originals that are still kept.

Examples:
  outrigger images stats
  outrigger images stats --json | jq .states.withheld

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.
`;

export const ENDS_HELP = `
Prints a line of JSON for each image that is gone or withheld, and for the lookup's suppressions as tokens from which no
address can be read. Made daily and kept apart from the storage, it has a restored backup respect what happened since:
outrigger restore --ends. The last line says that the list is whole. A file may have several lists, one after the other.

Examples:
  outrigger images ends > /backup/ends.ndjson
  outrigger images ends --data /var/lib/outrigger >> /backup/ends.ndjson

Exit codes: 0 done, 1 failed, or a record cannot be read, 2 wrong usage or configuration.
`;

export const SWEEP_HELP = `
A server sweeps by itself; this does not wait for it. "Emptied" are images whose bytes were removed, "forgotten" those
of which nothing is known any more.

Examples:
  outrigger images sweep
  outrigger images sweep --data /var/lib/outrigger

Exit codes: 0 done, 1 something failed, 2 wrong usage or configuration.
`;

export const REINDEX_HELP = `
For storage that was restored from a backup: what expired meanwhile is found by the next sweep.

Examples:
  outrigger images reindex && outrigger images sweep

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.
`;
