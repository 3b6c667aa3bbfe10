import { type Command, InvalidArgumentError, Option } from "commander";
import { FORMATS, formatOfSuffix, QUALITIES } from "../../../cli/image-formats.ts";
import { lazyAction } from "../../../cli/lazy-action.ts";
import { parseExpiry, parseLimit } from "../../../cli/option-values.ts";
import { TO_HELP } from "../service-url.ts";
import { edit, rm } from "./change-image.ts";
import { get } from "./get.ts";
import { EDIT_HELP, GET_HELP, RM_HELP, UPLOAD_HELP } from "./image-commands-help.ts";

const ADDRESS = "its edit address, or any other or its ID together with the PIN";

/** Adds the commands for images of a service that runs: `upload`, `get`, `edit` and `rm`. */
export function addImageCommands(program: Command): void {
  /** A command with what all of them have. */
  function add(name: string, description: string, help: string): Command {
    return program
      .command(name)
      .description(description)
      .showHelpAfterError(`(see outrigger ${name} --help)`)
      .option("--to <url>", TO_HELP)
      .addHelpText("after", help);
  }

  const expires = () =>
    new Option("--expires <when>", "when it ends: in 30m, 12h, 7d or 2w, or a date (ISO 8601)").argParser(
      (text) => parseExpiry(text),
    );
  const json = (what: string) => new Option("--json", `print ${what}`);

  add("upload", "Upload pictures to a running service.", UPLOAD_HELP)
    .argument("<file...>", "- is the standard input")
    .addOption(expires())
    .option("--name <name>", "instead of the file's own")
    .addOption(json("a JSON object per image"))
    .option("--no-wait", "do not wait until it can be served")
    // What tells a picture by its bytes takes longer to load than all the rest.
    .action(lazyAction(async () => (await import("./upload.ts")).upload));
  add("get", "Fetch a picture, in any format and size.", GET_HELP)
    .argument("<address>", "any address of the image, or its ID")
    .option("--as <format>", `${FORMATS.join(", ")} (default: as it was uploaded)`, parseFormat)
    .option("--output <file>", "a file or a directory; - is the standard output")
    .option("--resize <box>", "fit into <width>x<height>, <width>x or x<height>, in pixels")
    .addOption(new Option("--quality <quality>", "of a JPEG").choices(QUALITIES))
    .option("--page <number>", "page of a PDF", parseLimit)
    .option("--force", "replace a file that is there")
    .addOption(json("its record instead").conflicts(["as", "output", "resize", "quality", "page", "force"]))
    .action(get);
  add("edit", "Give an image another name or end.", EDIT_HELP)
    .argument("<address>", ADDRESS)
    .option("--pin <pin>", "where the address has none")
    .option("--name <name>", "its new name")
    .addOption(expires())
    .addOption(json("its record"))
    .action(edit);
  add("rm", "Delete images by their PINs.", RM_HELP)
    .argument("<address...>", ADDRESS)
    .option("--pin <pin>", "where an address has none")
    .option("--yes", "do not ask; needed where there is no terminal")
    .action(rm);
}

function parseFormat(text: string) {
  const format = formatOfSuffix(text);
  if (format !== null) return format;
  throw new InvalidArgumentError(`It must be one of ${FORMATS.join(", ")}.`);
}
