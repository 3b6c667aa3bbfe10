import { type Command, Option } from "commander";
import { lazyAction } from "../../../cli/lazy-action.ts";
import {
  parseAuthority,
  parseConcurrency,
  parseDeleteAfter,
  parseLimit,
  parseRate,
  parseReason,
  STATES,
} from "../../../cli/option-values.ts";
import { reindex, release, remove, sweep, withhold } from "./change-images.ts";
import {
  ENDS_HELP,
  IMAGES_HELP,
  LIST_HELP,
  REINDEX_HELP,
  RELEASE_HELP,
  REMOVE_HELP,
  STATS_HELP,
  SWEEP_HELP,
  VERIFY_HELP,
  WITHHOLD_HELP,
} from "./images-help.ts";
import { list } from "./list.ts";
import { stats } from "./stats.ts";
import { verify } from "./verify.ts";

/** Said the same by several commands. */
const IMAGES = "<image...>";
const JSON_FLAG = "--json";

/**
 * Adds `outrigger images` with its commands.
 * @param configHelp What to say about `--config`.
 */
export function addImagesCommand(program: Command, configHelp: string): void {
  const images = program
    .command("images")
    .description("Withhold, delete and list images, also while a server serves them.")
    .showHelpAfterError("(see outrigger images --help)")
    .addHelpText("after", IMAGES_HELP);

  /** A command with what all of them have. */
  function add(name: string, description: string, help: string): Command {
    return images
      .command(name)
      .description(description)
      .showHelpAfterError(`(see outrigger images ${name} --help)`)
      .option("--config <file>", configHelp)
      .option("--data <directory>", "where the images are (default: ./data)")
      .addHelpText("after", help);
  }

  add("withhold", "Refuse images to everybody, with a reason.", WITHHOLD_HELP)
    .argument(IMAGES, "their IDs or addresses")
    .requiredOption("--reason <text>", "told to whoever asks for them", parseReason)
    .option("--authority <url>", "page about the demand: Link, rel=blocked-by (RFC 7725)", parseAuthority)
    .option("--delete-after <date>", "when they are deleted for good (ISO 8601)", parseDeleteAfter)
    .action(withhold);
  add("release", "Serve withheld images again.", RELEASE_HELP)
    .argument(IMAGES, "their IDs or addresses")
    .action(release);
  add("rm", "Delete images for good.", REMOVE_HELP)
    .argument(IMAGES, "their IDs or addresses")
    .option("--yes", "do not ask; needed where there is no terminal")
    .action(remove);
  add("list", "List images.", LIST_HELP)
    .addOption(new Option("--state <state>", "only those in this state").choices(STATES))
    .option("--owner <name>", "only those of this owner")
    .option("--limit <number>", "at most so many", parseLimit)
    .option(JSON_FLAG, "print a JSON object per line")
    .action(list);
  add("stats", "Count images by state.", STATS_HELP)
    .option("--exact", "count every image of a large data directory, however long it takes")
    .option(JSON_FLAG, "print one JSON object")
    .action(stats);
  add("ends", "List what is gone or withheld, for a restore.", ENDS_HELP).action(
    lazyAction(async () => (await import("./ends.ts")).ends),
  );
  add("sweep", "Remove what has expired, now.", SWEEP_HELP).action(sweep);
  add("reindex", "Note anew when to look at which image.", REINDEX_HELP).action(reindex);
  add("verify", "Compare every record with its bytes, and repair what is damaged.", VERIFY_HELP)
    .option("--repair", "restore what --from has whole, remove the rest")
    .option("--from <storage>", "a backup: a URL, or JSON with one for each role")
    .option("--yes", "do not ask before a repair; needed where there is no terminal")
    .option("--rate <MB/s>", "bytes of originals that are read (default: 50)", parseRate)
    .option("--concurrency <number>", "keys that are looked at a time (default: 4)", parseConcurrency)
    .option("--state <file>", "keep how far it is in this file, and go on there")
    .option(JSON_FLAG, "print a JSON object per finding, and one at the end")
    .option("--quiet", "no progress")
    .action(verify);
}
