import { type Command, InvalidArgumentError, Option } from "commander";
import { AS_FORMATS, formatOfSuffix, QUALITIES } from "../../../cli/image-formats.ts";
import { lazyAction } from "../../../cli/lazy-action.ts";
import { parseExpiry, parseLimit } from "../../../cli/option-values.ts";
import { TO_HELP } from "../service-url.ts";
import { EDIT_HELP, GET_HELP, RM_HELP, UPLOAD_HELP } from "./image-commands-help.ts";

const ADDRESS = "its edit address; or any address or the ID, with the PIN";

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
      "when the image expires: after 30m, 12h, 7d or 2w, or a date (ISO 8601)",
    ).argParser((text) => parseExpiry(text));
  const json = (what: string) => new Option("--json", `print ${what}`);

  add("upload", "Upload pictures to a running service.", UPLOAD_HELP)
    .argument("<file...>", "files or URLs; - for standard input")
    .addOption(expires())
    .option("--name <name>", "name of the image, instead of the file name")
    .addOption(json("a JSON object per image"))
    .option("--no-wait", "do not wait until the image is ready")
    .action(lazyAction(async () => (await import("./upload.ts")).upload));
  add("get", "Fetch a picture, in any format and size.", GET_HELP)
    .argument("<address>", "any address of the image, or its ID")
    .option("--as <format>", `${AS_FORMATS.join(", ")} (default: as uploaded)`, parseFormat)
    .option("--output <file>", "a file or a directory; - for standard output")
    .option("--resize <box>", "fit into <width>x<height>, <width>x or x<height>, in pixels")
    .addOption(new Option("--quality <quality>", "quality of a JPEG").choices(QUALITIES))
    .option("--page <number>", "page of a PDF", parseLimit)
    .option("--force", "replace an existing file")
    .addOption(json("the record instead").conflicts(["as", "output", "resize", "quality", "page", "force"]))
    .action(lazyAction(async () => (await import("./get.ts")).get));
  add("edit", "Change the name or the expiry of an image.", EDIT_HELP)
    .argument("<address>", ADDRESS)
    .option("--pin <pin>", "PIN, if the address has none")
    .option("--name <name>", "new name")
    .addOption(expires())
    .addOption(json("the record"))
    .action(lazyAction(async () => (await import("./change-image.ts")).edit));
  add("rm", "Delete images with their PINs.", RM_HELP)
    .argument("<address...>", ADDRESS)
    .option("--pin <pin>", "PIN, if an address has none")
    .option("--yes", "do not ask; required without a terminal")
    .action(lazyAction(async () => (await import("./change-image.ts")).rm));
}

function parseFormat(text: string) {
  const format = formatOfSuffix(text);
  if (format !== null) return format;
  throw new InvalidArgumentError(`It must be one of ${AS_FORMATS.join(", ")}.`);
}
