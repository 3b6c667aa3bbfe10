import { type Command, Option } from "commander";
import { addGroup, EXIT_CODES, EXIT_CODES_OF_SEVERAL } from "../../../cli/command-group.ts";
import { lazyAction } from "../../../cli/lazy-action.ts";
import {
  parseAuthority,
  parseConcurrency,
  parseCount,
  parseDeleteAfter,
  parseLimit,
  parseRate,
  parseReason,
  parseTime,
  STATES,
} from "../../../cli/option-values.ts";

const IMAGES_HELP = `
These commands change the data directory or other storage directly. A running server applies the changes at once. Run them
as the user of the server. Environment and configuration file: see outrigger serve --help.

Examples:
  outrigger images withhold https://img.example.com/Yk3fPq0bT1mVxR8aZ2cLdw --reason "Claim of copyright"

${EXIT_CODES}
`;

const WITHHOLD_HELP = `
When the command ends, every address of a withheld image answers 451 with the reason. Nothing is deleted: release undoes
it. An image already withheld gets the new reason. Name images by ID or by any of their addresses.

Examples:
  outrigger images withhold https://img.example.com/Yk3fPq0bT1mVxR8aZ2cLdw/view \\
    --reason "Order of the district court" --authority https://img.example.com/legal/4711 --delete-after 2030-01-31

${EXIT_CODES_OF_SEVERAL}
`;

const RELEASE_HELP = `
Examples:
  outrigger images list --state withheld --json | jq -r .id | xargs outrigger images release

${EXIT_CODES_OF_SEVERAL}
`;

const REMOVE_HELP = `
Deletes images as DELETE with the PIN does. When the command ends, the bytes are deleted and the addresses answer 410, those of
a withheld image still 451 with its reason. This cannot be undone.

Examples:
  outrigger images rm --yes https://img.example.com/api/images/Yk3fPq0bT1mVxR8aZ2cLdw.png

Exit codes: 0 all deleted, 1 some failed or the answer was no, 2 invalid usage or configuration, nothing done.
`;

const LIST_HELP = `
Prints each image as it is read, in no particular order. Memory does not grow with the number of images. PostgreSQL finds the
images itself, those of an owner by an index; from any other storage every record is read. A date without a time starts at
00:00 UTC.

Examples:
  outrigger images list --created-from 2026-01-01 --created-before 2026-02-01
  outrigger images list --owner alice --json | jq -r .id

${EXIT_CODES}
`;

const STATS_HELP = `
The bytes are those of stored originals. If a data directory or PostgreSQL takes longer than three seconds, the numbers are
estimated from a random sample and shown with their margins. Other storage is always counted completely.

Examples:
  outrigger images stats --json | jq .states.withheld

${EXIT_CODES}
`;

const ENDS_HELP = `
Prints a line of JSON for each image that is gone or withheld, and for the lookup's suppressions, as tokens from which no
address can be read. Make a list daily and keep it apart from the storage: outrigger restore --ends then applies later
deletions, takedowns and suppressions to a restored backup. The last line marks a list as complete. A file may have
several lists in sequence.

Examples:
  outrigger images ends --data /var/lib/outrigger >> /backup/ends.ndjson

Exit codes: 0 done, 1 failed or a record cannot be read, 2 invalid usage or configuration.
`;

const SWEEP_HELP = `
A server sweeps at intervals; this command sweeps now. Progress goes to standard error. "Emptied" counts images whose bytes
were deleted, "forgotten" images whose record was deleted too.

Examples:
  outrigger images sweep

${EXIT_CODES}
`;

const REINDEX_HELP = `
For storage restored from a backup: the next sweep then finds all expired images.

Examples:
  outrigger images reindex && outrigger images sweep

${EXIT_CODES}
`;

const VERIFY_HELP = `
Reads every record and every original, compares sizes and SHA-256, and finds files without a record. A server may be
running: every finding is checked twice before it is reported. Prints one line per finding: image, problem, detail.

With --repair, a damaged or missing record or original is restored from an intact copy in the backup; without such a copy the
image is deleted (410), as by rm. Orphaned files are deleted. No deletion and no takedown is undone. Removals come last. If they
are more than 3 and more than 1 % of the images and orphaned originals, nothing is removed without --max-removals. An image
that a repair deleted for want of bytes comes back by a later repair --from a backup that has them, or by outrigger restore.

Examples:
  outrigger images verify --rate 20 --state /var/tmp/verify.json
  outrigger images verify --repair --from file:/backup/images --yes

Exit codes: 0 no damage, or all repaired, 1 damage remains, 2 invalid usage or configuration, 130 ended by a signal
after the work in progress; a second signal ends it at once.
`;

/** Adds `outrigger images` with its commands. */
export function addImagesCommand(program: Command): void {
  const add = addGroup(program, "images", {
    description: "Withhold, delete and list images, also while a server serves them.",
    help: IMAGES_HELP,
    dataHelp: "directory of the images (default: ./data)",
  });

  add("withhold", "Answer 451 for images, with a reason.", WITHHOLD_HELP)
    .argument("<image...>", "their IDs or addresses")
    .requiredOption("--reason <text>", "reason shown to clients", parseReason)
    .option(
      "--authority <url>",
      "page about the legal demand, sent as Link with rel=blocked-by (RFC 7725)",
      parseAuthority,
    )
    .option("--delete-after <date>", "when the images are deleted for good (ISO 8601)", parseDeleteAfter)
    .action(lazyAction(async () => (await import("./change-images.ts")).withhold));
  add("release", "Serve withheld images again.", RELEASE_HELP)
    .argument("<image...>", "their IDs or addresses")
    .action(lazyAction(async () => (await import("./change-images.ts")).release));
  add("rm", "Delete images for good.", REMOVE_HELP)
    .argument("<image...>", "their IDs or addresses")
    .option("--yes", "do not ask; required without a terminal")
    .action(lazyAction(async () => (await import("./change-images.ts")).remove));
  add("list", "List images.", LIST_HELP)
    .addOption(new Option("--state <state>", "only images in this state").choices(STATES))
    .option("--owner <name>", "only images of this owner")
    .option("--created-from <date>", "only images created then or later (ISO 8601)", parseTime)
    .option("--created-before <date>", "only images created earlier (ISO 8601)", parseTime)
    .option("--limit <number>", "list at most this many images", parseLimit)
    .option("--json", "print a JSON object per line")
    .action(lazyAction(async () => (await import("./list.ts")).list));
  add("stats", "Count images by state.", STATS_HELP)
    .option("--json", "print one JSON object")
    .action(lazyAction(async () => (await import("./stats.ts")).stats));
  add("ends", "List images that are gone or withheld, for a restore.", ENDS_HELP).action(
    lazyAction(async () => (await import("./ends.ts")).ends),
  );
  add("sweep", "Delete expired images now.", SWEEP_HELP).action(
    lazyAction(async () => (await import("./change-images.ts")).sweep),
  );
  add("reindex", "Rebuild the schedule of the sweep.", REINDEX_HELP).action(
    lazyAction(async () => (await import("./change-images.ts")).reindex),
  );
  add("verify", "Compare every record with its bytes, and repair damage.", VERIFY_HELP)
    .option("--repair", "restore damaged images from --from, delete the rest")
    .option("--from <storage>", "a backup: a URL, or JSON with one for each role")
    .option("--yes", "do not ask before a repair; required without a terminal")
    .option(
      "--max-removals <number>",
      "most images and orphaned originals to remove (default: 3, or 1 %)",
      parseCount,
    )
    .option("--rate <MB/s>", "rate at which originals are read (default: 50)", parseRate)
    .option("--concurrency <number>", "keys checked at a time (default: 8)", parseConcurrency)
    .option("--state <file>", "keep the progress in this file, and resume from it")
    .option("--json", "print a JSON object per finding, and one at the end")
    .option("--quiet", "show no progress")
    .action(lazyAction(async () => (await import("./verify.ts")).verify));
}
