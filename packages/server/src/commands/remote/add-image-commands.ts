import type { AddressFormat, PicturePoint } from "@outrigger/client";
import { type Command, InvalidArgumentError, Option } from "commander";
import { lazyAction } from "../../cli/lazy-action.ts";
import { parseColour, parseExpiry, parseLimit } from "../../cli/option-values.ts";
import { FORMATS, TO_HELP } from "./options.ts";

const ENVIRONMENT = `
Environment:
  OUTRIGGER_URL  same as --to`;

const PIN_ENVIRONMENT = `
The PIN comes from the edit address, otherwise from --pin, otherwise from OUTRIGGER_PIN. Other users of this machine can
see --pin in the list of processes, but not the environment.
${ENVIRONMENT}
  OUTRIGGER_PIN  same as --pin`;

const UPLOAD_HELP = `
The service detects the type from the content, not from the name. Prints the page to share, the address of the image, and the
edit address. The edit address has the PIN, which allows changing and deleting the image: keep it private. A URL is fetched
by the service, if its option images.importUrls permits that.
${ENVIRONMENT}

Examples:
  outrigger upload *.png --expires 7d --to https://example.com/img
  import png:- | outrigger upload - --name screen.png
  outrigger upload --json photo.jpg | jq -r .editUrl

Exit codes: 0 all uploaded, 1 some failed, 2 invalid usage, 130 ended by a signal; printed images are stored.
`;

const GET_HELP = `
Accepts any address of an image, or an ID with --to. The suffix and parameters of an address apply unless options override
them. The file is named after the image and appears only when it is complete.
${ENVIRONMENT}

Examples:
  outrigger get https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw/view --as jpg --resize 800x --quality medium
  outrigger get Yk3fPq0bT1mVxR8aZ2cLdw --to https://example.com/img --as png --page 3 --output page-3.png
  outrigger get https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw --json | jq -r .expiresAt

Exit codes: 0 done, 1 failed without a file, 2 invalid usage, 130 ended by a signal without a file.
`;

const EDIT_HELP = `${PIN_ENVIRONMENT}

Examples:
  outrigger edit "https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw/edit?pin=…" --name sunset.jpg
  OUTRIGGER_PIN=… outrigger edit https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw --expires 2w

Exit codes: 0 done, 1 failed, 2 invalid usage, 130 ended by a signal.
`;

const RM_HELP = `
The addresses of a deleted image answer 410. This cannot be undone.
${PIN_ENVIRONMENT}

Examples:
  outrigger rm "https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw/edit?pin=…"

Exit codes: 0 all deleted, 1 some failed or the answer was no, 2 invalid usage, nothing done, 130 ended by a signal.
`;

const ADDRESS = "its edit address; or any address or the ID, with the PIN";
const FOCUS = "point that a cut picture keeps: x,y from 0 to 1";
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

  const choice = (flags: string, what: string, choices: string) =>
    new Option(flags, what).choices(choices.split(" "));
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
    .option("--focus <point>", FOCUS, parsePoint)
    .addOption(json("a JSON object per image"))
    .option("--no-wait", "do not wait until the image is ready")
    .action(lazyAction(async () => (await import("./images.ts")).upload));
  add("get", "Fetch a picture, in any format and size.", GET_HELP)
    .argument("<address>", "any address of the image, or its ID")
    .option("--as <format>", `${FORMATS.join(", ")} (default: as uploaded)`, parseFormat)
    .option("--output <file>", "a file or a directory; - for standard output")
    .option("--resize <box>", "fit into <width>x<height>, <width>x or x<height>, in pixels")
    .addOption(
      choice("--fit <fit>", "cut (cover) or extend (pad) to the size of --resize", "contain cover pad"),
    )
    .option("--at <place>", "part that --fit cover keeps: x,y from 0 to 1, attention or entropy", (text) =>
      text === "attention" || text === "entropy" ? text : parsePoint(text),
    )
    .option("--background <colour>", "colour of the bars of --fit pad: rrggbb or transparent", parseColour)
    .addOption(
      choice("--quality <quality>", "of a JPEG; auto also of WebP and AVIF", "low medium high max auto"),
    )
    .option("--page <number>", "page of a PDF", parseLimit)
    .option("--force", "replace an existing file")
    .addOption(json("the record instead").conflicts(SHAPING))
    .action(lazyAction(async () => (await import("./get.ts")).get));
  add("edit", "Change the name, the expiry or the focus of an image.", EDIT_HELP)
    .argument("<address>", ADDRESS)
    .option("--pin <pin>", "PIN, if the address has none")
    .option("--name <name>", "new name")
    .option("--focus <point>", `${FOCUS}, or none`, (text) => (text === "none" ? null : parsePoint(text)))
    .addOption(expires())
    .addOption(json("the record"))
    .action(lazyAction(async () => (await import("./images.ts")).edit));
  add("rm", "Delete images with their PINs.", RM_HELP)
    .argument("<address...>", ADDRESS)
    .option("--pin <pin>", "PIN, if an address has none")
    .option("--yes", "do not ask; required without a terminal")
    .action(lazyAction(async () => (await import("./images.ts")).rm));
}

function parsePoint(text: string): PicturePoint {
  const [, x, y] = /^([01]?(?:\.\d+)?),([01]?(?:\.\d+)?)$/.exec(text) ?? [];
  if (x && y && Number(x) <= 1 && Number(y) <= 1) return [Number(x), Number(y)];
  throw new InvalidArgumentError("It must be a point: x,y with numbers from 0 to 1.");
}

function parseFormat(text: string): AddressFormat {
  const format = FORMATS.find((each) => each === text.toLowerCase().replace("jpeg", "jpg"));
  if (format !== undefined) return format;
  throw new InvalidArgumentError(`It must be one of ${FORMATS.join(", ")}.`);
}
