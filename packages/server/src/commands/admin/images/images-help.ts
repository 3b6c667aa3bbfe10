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
The bytes are those of originals that are still kept. A data directory that takes longer than three seconds is estimated
from a random part of its images, and every number has its margin. Other storage is counted to the end.

Examples:
  outrigger images stats
  outrigger images stats --exact
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
A server sweeps by itself; this does not wait for it. Progress goes to the standard error. "Emptied" are images whose bytes were removed, "forgotten" those
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

export const VERIFY_HELP = `
Reads every record and every original, compares sizes and SHA-256, and looks for bytes without a record. A server may be
running: what looks wrong is looked at again before it is reported. One line for each finding: image, problem, detail.

With --repair, a damaged or missing record or original is restored from the backup when the copy there is whole; else the
image is deleted (410), as by rm. Orphaned bytes are deleted. No deletion and no takedown is undone.

Examples:
  outrigger images verify --rate 20 --state /var/tmp/verify.json
  outrigger images verify --json | jq -r 'select(.what == "wrong-digest") | .id'
  outrigger images verify --repair --from file:/backup/images --yes

Exit codes: 0 all is whole, or was repaired, 1 something is damaged, 2 wrong usage or configuration, 130 ended by a signal
after what was under way; a second signal ends it at once.
`;
