import { type Command, Option } from "commander";
import { lazyAction } from "../../../cli/lazy-action.ts";
import {
  parseAuthority,
  parseConcurrency,
  parseDeleteAfter,
  parseLimit,
  parseRate,
  parseReason,
  parseRemovals,
  parseTime,
  STATES,
} from "../../../cli/option-values.ts";
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

/** Texts that several commands share. */
const IMAGES = "<image...>";
const JSON_FLAG = "--json";

/**
 * Adds `outrigger images` with its commands.
 * @param configHelp Help text of `--config`.
 */
export function addImagesCommand(program: Command, configHelp: string): void {
  const images = program
    .command("images")
    .description("Withhold, delete and list images, also while a server serves them.")
    .showHelpAfterError("(see outrigger images --help)")
    .addHelpText("after", IMAGES_HELP);

  /** A subcommand with the shared options. */
  function add(name: string, description: string, help: string): Command {
    return images
      .command(name)
      .description(description)
      .showHelpAfterError(`(see outrigger images ${name} --help)`)
      .option("--config <file>", configHelp)
      .option("--data <directory>", "directory of the images (default: ./data)")
      .addHelpText("after", help);
  }

  add("withhold", "Answer 451 for images, with a reason.", WITHHOLD_HELP)
    .argument(IMAGES, "their IDs or addresses")
    .requiredOption("--reason <text>", "reason shown to clients", parseReason)
    .option(
      "--authority <url>",
      "page about the legal demand, sent as Link with rel=blocked-by (RFC 7725)",
      parseAuthority,
    )
    .option("--delete-after <date>", "when the images are deleted for good (ISO 8601)", parseDeleteAfter)
    .action(lazyAction(async () => (await import("./change-images.ts")).withhold));
  add("release", "Serve withheld images again.", RELEASE_HELP)
    .argument(IMAGES, "their IDs or addresses")
    .action(lazyAction(async () => (await import("./change-images.ts")).release));
  add("rm", "Delete images for good.", REMOVE_HELP)
    .argument(IMAGES, "their IDs or addresses")
    .option("--yes", "do not ask; required without a terminal")
    .action(lazyAction(async () => (await import("./change-images.ts")).remove));
  add("list", "List images.", LIST_HELP)
    .addOption(new Option("--state <state>", "only images in this state").choices(STATES))
    .option("--owner <name>", "only images of this owner")
    .option("--created-from <date>", "only images created then or later (ISO 8601)", parseTime)
    .option("--created-before <date>", "only images created earlier (ISO 8601)", parseTime)
    .option("--limit <number>", "list at most this many images", parseLimit)
    .option(JSON_FLAG, "print a JSON object per line")
    .action(lazyAction(async () => (await import("./list.ts")).list));
  add("stats", "Count images by state.", STATS_HELP)
    .option("--exact", "count every image of a large storage instead of estimating")
    .option(JSON_FLAG, "print one JSON object")
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
      parseRemovals,
    )
    .option("--rate <MB/s>", "rate at which originals are read (default: 50)", parseRate)
    .option("--concurrency <number>", "keys checked at a time (default: 8)", parseConcurrency)
    .option("--state <file>", "keep the progress in this file, and resume from it")
    .option(JSON_FLAG, "print a JSON object per finding, and one at the end")
    .option("--quiet", "show no progress")
    .action(lazyAction(async () => (await import("./verify.ts")).verify));
}
