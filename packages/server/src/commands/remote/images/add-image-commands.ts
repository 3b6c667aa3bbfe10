import { type Command, InvalidArgumentError, Option } from "commander";
import { AS_FORMATS, FITS, formatOfSuffix, placeIn, pointIn, QUALITIES } from "../../../cli/image-formats.ts";
import { lazyAction } from "../../../cli/lazy-action.ts";
import { parseExpiry, parseLimit } from "../../../cli/option-values.ts";
import { TO_HELP } from "../service-url.ts";
import { EDIT_HELP, GET_HELP, RM_HELP, UPLOAD_HELP } from "./image-commands-help.ts";

const ADDRESS = "its edit address; or any address or the ID, with the PIN";

const FOCUS = "point that a cut picture keeps";
/** Options of `get` that a record has no use for. */
const SHAPING = ["as", "output", "resize", "fit", "at", "background", "quality", "page", "force"];

/** Adds the commands for images of a running service: `upload`, `get`, `edit` and `rm`. */
export function addImageCommands(program: Command): void {
  /** A subcommand with the shared options. */
  function add(name: string, description: string, help: string): Command {
    return program
      .command(name)
      .description(description)
      .showHelpAfterError(`(see outrigger ${name} --help)`)
      .option("--to <url>", TO_HELP)
      .addHelpText("after", help);
  }

  const expires = () =>
    new Option(
      "--expires <when>",
      "when the image expires: after 30m, 12h, 7d or 2w, on a date (ISO 8601), or never",
    ).argParser((text) => parseExpiry(text));
  const json = (what: string) => new Option("--json", `print ${what}`);

  add("upload", "Upload pictures to a running service.", UPLOAD_HELP)
    .argument("<file...>", "files or URLs; - for standard input")
    .addOption(expires())
    .option("--name <name>", "name of the image, instead of the file name")
    .option("--focus <point>", `${FOCUS}: x,y from 0 to 1`, parseFocus)
    .addOption(json("a JSON object per image"))
    .option("--no-wait", "do not wait until the image is ready")
    .action(lazyAction(async () => (await import("./upload.ts")).upload));
  add("get", "Fetch a picture, in any format and size.", GET_HELP)
    .argument("<address>", "any address of the image, or its ID")
    .option("--as <format>", `${AS_FORMATS.join(", ")} (default: as uploaded)`, parseFormat)
    .option("--output <file>", "a file or a directory; - for standard output")
    .option("--resize <box>", "fit into <width>x<height>, <width>x or x<height>, in pixels")
    .addOption(new Option("--fit <fit>", "cut (cover) or extend (pad) to the size of --resize").choices(FITS))
    .option("--at <place>", "part that --fit cover keeps: x,y from 0 to 1, attention or entropy", parsePlace)
    .option("--background <colour>", "colour of the bars of --fit pad: rrggbb or transparent", parseColour)
    .addOption(
      new Option("--quality <quality>", "quality of a JPEG; auto also of WebP and AVIF").choices(QUALITIES),
    )
    .option("--page <number>", "page of a PDF", parseLimit)
    .option("--force", "replace an existing file")
    .addOption(json("the record instead").conflicts(SHAPING))
    .action(lazyAction(async () => (await import("./get.ts")).get));
  add("edit", "Change the name, the expiry or the focus of an image.", EDIT_HELP)
    .argument("<address>", ADDRESS)
    .option("--pin <pin>", "PIN, if the address has none")
    .option("--name <name>", "new name")
    .option("--focus <point>", `${FOCUS}: x,y from 0 to 1, or none`, (text) =>
      text === "none" ? null : parseFocus(text),
    )
    .addOption(expires())
    .addOption(json("the record"))
    .action(lazyAction(async () => (await import("./change-image.ts")).edit));
  add("rm", "Delete images with their PINs.", RM_HELP)
    .argument("<address...>", ADDRESS)
    .option("--pin <pin>", "PIN, if an address has none")
    .option("--yes", "do not ask; required without a terminal")
    .action(lazyAction(async () => (await import("./change-image.ts")).rm));
}

function parsePlace(text: string) {
  const place = placeIn(text);
  if (place !== null) return place;
  throw new InvalidArgumentError("It must be x,y with numbers from 0 to 1, attention or entropy.");
}

function parseFocus(text: string) {
  const point = pointIn(text);
  if (point !== null) return point;
  throw new InvalidArgumentError("It must be x,y with numbers from 0 to 1.");
}

function parseColour(text: string): string {
  if (/^(?:[0-9a-f]{6}|transparent)$/i.test(text)) return text;
  throw new InvalidArgumentError("It must be six hexadecimal digits, such as ffffff, or transparent.");
}

function parseFormat(text: string) {
  const format = formatOfSuffix(text);
  if (format !== null) return format;
  throw new InvalidArgumentError(`It must be one of ${AS_FORMATS.join(", ")}.`);
}
