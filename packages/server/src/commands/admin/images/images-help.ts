export const IMAGES_HELP = `
These commands change the data directory or other storage directly. A running server applies the changes at once. Run them
as the user of the server. Environment and configuration file: see outrigger serve --help.

Examples:
  outrigger images withhold https://img.example.com/Yk3fPq0bT1mVxR8aZ2cLdw --reason "Claim of copyright"
  outrigger images list --state withheld
  outrigger images stats --json

Exit codes: 0 done, 1 something failed, 2 invalid usage or configuration.
`;

export const WITHHOLD_HELP = `
When the command ends, every address of a withheld image answers 451 with the reason. Nothing is deleted: release undoes
it. An image already withheld gets the new reason. Name images by ID or by any of their addresses.

Examples:
  outrigger images withhold Yk3fPq0bT1mVxR8aZ2cLdw --reason "Claim of copyright, case 4711"
  outrigger images withhold https://img.example.com/Yk3fPq0bT1mVxR8aZ2cLdw/view \\
    --reason "Order of the district court" --authority https://img.example.com/legal/4711 --delete-after 2030-01-31
  xargs outrigger images withhold --reason "Under review" < addresses.txt

Exit codes: 0 all withheld, 1 some failed, 2 invalid usage or configuration, nothing done.
`;

export const RELEASE_HELP = `
Examples:
  outrigger images release Yk3fPq0bT1mVxR8aZ2cLdw
  outrigger images list --state withheld --json | jq -r .id | xargs outrigger images release

Exit codes: 0 all released, 1 some failed, 2 invalid usage or configuration, nothing done.
`;

export const REMOVE_HELP = `
Deletes images as DELETE with the PIN does. When the command ends, the bytes are deleted and the addresses answer 410, those of
a withheld image still 451 with its reason. This cannot be undone.

Examples:
  outrigger images rm Yk3fPq0bT1mVxR8aZ2cLdw
  outrigger images rm --yes https://img.example.com/api/images/Yk3fPq0bT1mVxR8aZ2cLdw.png

Exit codes: 0 all deleted, 1 some failed or the answer was no, 2 invalid usage or configuration, nothing done.
`;

export const LIST_HELP = `
Prints each image as it is read, in no particular order. Memory does not grow with the number of images. PostgreSQL finds the
images itself, those of an owner by an index; from any other storage every record is read. A date without a time starts at
00:00 UTC.

Examples:
  outrigger images list | head
  outrigger images list --state withheld
  outrigger images list --created-from 2026-01-01 --created-before 2026-02-01
  outrigger images list --owner alice --json | jq -r .id

Exit codes: 0 done, 1 failed, 2 invalid usage or configuration.
`;

export const STATS_HELP = `
The bytes are those of stored originals. If a data directory or PostgreSQL takes longer than three seconds, the numbers are
estimated from a random sample and shown with their margins. Other storage is always counted completely.

Examples:
  outrigger images stats
  outrigger images stats --exact
  outrigger images stats --json | jq .states.withheld

Exit codes: 0 done, 1 failed, 2 invalid usage or configuration.
`;

export const ENDS_HELP = `
Prints a line of JSON for each image that is gone or withheld, and for the lookup's suppressions, as tokens from which no
address can be read. Make a list daily and keep it apart from the storage: outrigger restore --ends then applies later
deletions, takedowns and suppressions to a restored backup. The last line marks a list as complete. A file may have
several lists in sequence.

Examples:
  outrigger images ends > /backup/ends.ndjson
  outrigger images ends --data /var/lib/outrigger >> /backup/ends.ndjson

Exit codes: 0 done, 1 failed or a record cannot be read, 2 invalid usage or configuration.
`;

export const SWEEP_HELP = `
A server sweeps at intervals; this command sweeps now. Progress goes to standard error. "Emptied" counts images whose bytes
were deleted, "forgotten" images whose record was deleted too.

Examples:
  outrigger images sweep
  outrigger images sweep --data /var/lib/outrigger

Exit codes: 0 done, 1 something failed, 2 invalid usage or configuration.
`;

export const REINDEX_HELP = `
For storage restored from a backup: the next sweep then finds all expired images.

Examples:
  outrigger images reindex && outrigger images sweep

Exit codes: 0 done, 1 failed, 2 invalid usage or configuration.
`;

export const VERIFY_HELP = `
Reads every record and every original, compares sizes and SHA-256, and finds files without a record. A server may be
running: every finding is checked twice before it is reported. Prints one line per finding: image, problem, detail.

With --repair, a damaged or missing record or original is restored from an intact copy in the backup; without such a copy the
image is deleted (410), as by rm. Orphaned files are deleted. No deletion and no takedown is undone. Removals come last. If they
are more than 3 and more than 1 % of the images and orphaned originals, nothing is removed without --max-removals. An image
that a repair deleted for want of bytes comes back by a later repair --from a backup that has them, or by outrigger restore.

Examples:
  outrigger images verify --rate 20 --state /var/tmp/verify.json
  outrigger images verify --json | jq -r 'select(.what == "wrong-digest") | .id'
  outrigger images verify --repair --from file:/backup/images --yes

Exit codes: 0 no damage, or all repaired, 1 damage remains, 2 invalid usage or configuration, 130 ended by a signal
after the work in progress; a second signal ends it at once.
`;
