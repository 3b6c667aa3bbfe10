import { type Command, Option } from "commander";
import { addCommand, addDataCommand, type CommandTexts, lazyAction } from "../../../cli/command.ts";
import {
  parseAuthority,
  parseConcurrency,
  parseCount,
  parseDeleteAfter,
  parseRate,
  parseReason,
  parseTime,
  STATES,
} from "../../../cli/option-values.ts";

const WITHHOLD: CommandTexts = {
  description: "Answer 451 for images, with a reason.",
  notes:
    "Nothing is deleted: release undoes it. An image already withheld gets the new reason. A list can be run again.\n",
  examples: `  outrigger images withhold Yk3fPq0bT1mVxR8aZ2cLdw \\
    --reason "Order of the district court" --delete-after 2030-01-31 \\
    --authority https://img.example.com/legal/4711`,
};

const REMOVE: CommandTexts = {
  description: "Delete images for good.",
  notes: "The addresses then answer 410, those of a withheld image still 451. This cannot be undone.\n",
  examples: "  outrigger images rm --yes https://img.example.com/Yk3fPq0bT1mVxR8aZ2cLdw/view",
};

const LIST: CommandTexts = {
  description: "List images.",
  notes:
    "Prints each image as it is read, in no particular order. A date without a time starts at 00:00 UTC.\n",
  examples: `  outrigger images list --owner alice --created-from 2026-01-01 --json \\
    | jq -r .id`,
};

const STATS: CommandTexts = {
  description: "Count images by state.",
  notes: "Reads every record. The bytes are those of stored originals.\n",
  examples: "  outrigger images stats --json | jq .states.withheld",
};

const ENDS: CommandTexts = {
  description: "List images that are gone or withheld, for a restore.",
  notes: `Prints JSON lines for images that are gone or withheld, and tokens of the lookup's suppressions. Make a list daily, and keep
it apart from the storage, for outrigger restore --ends.
`,
  examples: "  outrigger images ends --data /var/lib/outrigger >> /backup/ends.ndjson",
};

const VERIFY: CommandTexts = {
  description: "Compare every record with its bytes, and repair damage.",
  notes: `Reads every record and original, also while a server runs. Prints one line per finding: image, problem, detail.

With --repair, a damaged or missing record or original is restored from the backup; without an intact copy there, the image is
deleted (410). Orphaned files are deleted. No deletion and no takedown is undone. See docs/operating.md.
`,
  examples: `  outrigger images verify --rate 20
  outrigger images verify --repair --from file:/backup/images --yes`,
};

/** Adds `outrigger images` with its commands. */
export function addImagesCommand(program: Command): void {
  const group = addCommand(program, "images", {
    description: "Review, withhold, delete and list images, also while a server serves them.",
    notes: `These commands change the data directory or other storage directly. A running server applies the changes at once. Run them
as the user of the server.
`,
    examples: '  outrigger images withhold Yk3fPq0bT1mVxR8aZ2cLdw --reason "Claim of copyright"',
  });
  const add = (name: string, texts: CommandTexts) => addDataCommand(group, name, texts);
  const addForMany = (name: string, texts: CommandTexts) =>
    add(name, texts)
      .argument("[image...]", "their IDs or addresses")
      .option("--from <file>", "further images: one ID or address per line; - is standard input");

  addForMany("withhold", WITHHOLD)
    .requiredOption("--reason <text>", "reason shown to clients", parseReason)
    .option(
      "--authority <url>",
      "page about the legal demand, sent as Link with rel=blocked-by (RFC 7725)",
      parseAuthority,
    )
    .option("--delete-after <date>", "when the images are deleted for good (ISO 8601)", parseDeleteAfter)
    .option("--copies", "also withhold the images of the same bytes, and deny later uploads of them")
    .action(lazyAction(async () => (await import("./change-images.ts")).withhold));
  addForMany("release", {
    description: "Serve withheld images again.",
    notes: "Copies that another withhold withheld stay so, and are named. A release can be run again.\n",
    examples: `  outrigger images release Yk3fPq0bT1mVxR8aZ2cLdw --copies
  outrigger images list --state withheld --json | jq -r .id \\
    | xargs outrigger images release`,
  })
    .option("--copies", "also undo the rest of what withhold --copies did, and accept its bytes again")
    .action(lazyAction(async () => (await import("./change-images.ts")).release));
  addForMany("accept", {
    description: "Serve images that wait for review. Their lifetime starts now.",
    examples: `  outrigger images list --state held --json | jq -r .id \\
    | xargs outrigger images accept`,
  }).action(lazyAction(async () => (await import("./change-images.ts")).accept));
  addForMany("refuse", {
    description: "Refuse images that wait for review. Their addresses answer 404 with the reason.",
    examples: '  outrigger images refuse Yk3fPq0bT1mVxR8aZ2cLdw --reason "Not of the event"',
  })
    .requiredOption("--reason <text>", "reason shown to clients", parseReason)
    .action(lazyAction(async () => (await import("./change-images.ts")).refuse));
  add("reports", {
    description: "List reported images, the next to be decided first. The texts are those of the reporters.",
    examples: "  outrigger images reports --state open",
  })
    .addOption(new Option("--state <state>", "only open or decided reports").choices(["open", "decided"]))
    .option("--json", "print a JSON object per line")
    .action(lazyAction(async () => (await import("./list.ts")).reports));
  addForMany("keep", {
    description:
      "Decide the reports of images: they stay. `withhold`, `refuse` and `rm` decide reports, too.",
    examples: '  outrigger images keep Yk3fPq0bT1mVxR8aZ2cLdw --note "A painting of 1890"',
  })
    .option("--note <text>", "reason, which clients never see")
    .action(lazyAction(async () => (await import("./change-images.ts")).keep));
  addForMany("rm", REMOVE)
    .option("--yes", "do not ask; required without a terminal")
    .action(lazyAction(async () => (await import("./change-images.ts")).remove));
  add("list", LIST)
    .addOption(new Option("--state <state>", "only images in this state").choices(STATES))
    .option("--owner <name>", "only images of this owner")
    .option("--created-from <date>", "only images created then or later (ISO 8601)", parseTime)
    .option("--created-before <date>", "only images created earlier (ISO 8601)", parseTime)
    .option("--json", "print a JSON object per line")
    .action(lazyAction(async () => (await import("./list.ts")).list));
  add("stats", STATS)
    .option("--json", "print one JSON object")
    .action(lazyAction(async () => (await import("./list.ts")).stats));
  add("ends", ENDS).action(lazyAction(async () => (await import("./ends.ts")).ends));
  add("sweep", {
    description: "Delete expired images now, instead of at the next interval of the server.",
    examples: "  outrigger images sweep",
  }).action(lazyAction(async () => (await import("./change-images.ts")).sweep));
  addDenyCommands(add);
  add("verify", VERIFY)
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
    .option("--json", "print a JSON object per finding, and one at the end")
    .action(lazyAction(async () => (await import("./verify.ts")).verify));
}

/** The commands of the deny list. */
function addDenyCommands(add: (name: string, texts: CommandTexts) => Command): void {
  const HASHES = ["[sha256...]", "SHA-256 of their bytes, as uploaded or as stored"] as const;
  add("deny", {
    description: "Refuse uploads of these bytes from now on.",
    notes: `Images that are stored stay: see withhold --copies. A line of --from is a SHA-256, or a JSON object with sha256, reason and
isLegal, as denials prints it.
`,
    examples: `  outrigger images deny "$(sha256sum < leak.jpg | cut -d' ' -f1)" \\
    --reason "Claim of copyright" --legal
  outrigger images deny --from list.txt --reason "Known abuse"`,
  })
    .argument(...HASHES)
    .option("--reason <text>", "reason shown to clients", parseReason)
    .option("--legal", "a legal reason: uploads answer 451 instead of 403")
    .option("--from <file>", "a list: one per line; - is standard input")
    .action(lazyAction(async () => (await import("./deny.ts")).deny));
  add("allow", {
    description: "Accept uploads again that deny or withhold --copies refuses.",
    examples: "  outrigger images allow \"$(sha256sum < leak.jpg | cut -d' ' -f1)\"",
  })
    .argument(...HASHES)
    .action(lazyAction(async () => (await import("./deny.ts")).allow));
  add("denials", {
    description: "List the bytes whose upload is refused, as a JSON object per line.",
    examples: "  outrigger images denials > /backup/denials.ndjson",
  }).action(lazyAction(async () => (await import("./deny.ts")).denials));
}
