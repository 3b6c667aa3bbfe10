import type { AddressFormat, PicturePoint } from "@outrigger/client";
import { type Command, InvalidArgumentError, Option } from "commander";
import { addCommand, type CommandTexts, lazyAction } from "../../cli/command.ts";
import { parseCount, parseExpiry, parseLimit } from "../../cli/option-values.ts";
import { FORMATS, TO_HELP } from "./options.ts";

const URL_LINE = "  OUTRIGGER_URL  same as --to";
const PIN_LINES = `${URL_LINE}
  OUTRIGGER_PIN  same as --pin, but invisible to other users of this machine; the PIN in an address comes first`;
const KEY_LINES = `  OUTRIGGER_URL      same as --to
  OUTRIGGER_API_KEY  the key, unless --key-file is given. Other users of this machine could see an option`;

const UPLOAD: CommandTexts = {
  description: "Upload images to a running service.",
  notes: `Prints the page to share, the address of the image, and the edit address, which has the PIN: keep it private. A URL is
fetched by the service, if its option images.importUrls permits that.
`,
  environment: `  OUTRIGGER_URL     same as --to; the address of a ticket comes first
  OUTRIGGER_TICKET  same as --ticket, but invisible to other users of this machine`,
  examples: `  outrigger upload *.png --expires 7d --to https://example.com/img
  import png:- | outrigger upload - --name screen.png`,
};
const LIST: CommandTexts = {
  description: "List the images that you have uploaded from this machine, with their PINs.",
  notes: `Reads outrigger/uploads.ndjson in XDG_STATE_HOME (default: ~/.local/state), to which upload appends. Deleted and expired images
are omitted. edit and rm take PINs from there.
`,
  examples: "  outrigger list --print edit",
};
const GET: CommandTexts = {
  description: "Fetch an image, in any format and size.",
  notes: `Accepts any address of an image, with any parameters of the API, or an ID with --to. The file appears only when it is
complete.
`,
  environment: URL_LINE,
  examples: `  outrigger get https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw/view --as jpg
  outrigger get --output photo.jpg --to https://example.com/img \\
    Yk3fPq0bT1mVxR8aZ2cLdw
  outrigger get https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw --resize 800x`,
};
const EDIT: CommandTexts = {
  description: "Change the name, the description, the expiry or the focus of an image.",
  environment: PIN_LINES,
  examples: "  outrigger edit https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw --expires 2w",
};
const RM: CommandTexts = {
  description: "Delete images with their PINs.",
  notes: "The addresses of a deleted image answer 410. This cannot be undone.\n",
  environment: PIN_LINES,
  examples: '  outrigger rm "https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw/edit?pin=…"',
};
const FIND: CommandTexts = {
  description: "Find the address of a person.",
  notes: "The score is the probability in percent that the address belongs to the person.\n",
  environment: KEY_LINES,
  examples: '  outrigger find --domain example.com --name "Ada Lovelace"',
};
const VERIFY: CommandTexts = {
  description: "Check whether addresses accept mail.",
  notes: "Prints one line per address: the result, the status, a score from 0 to 100, and the reason.\n",
  environment: KEY_LINES,
  examples: "  outrigger verify ada.lovelace@example.com charles@example.com",
};
const SEARCH: CommandTexts = {
  description: "List the addresses of a domain.",
  notes:
    "Prints one line per address, highest confidence first: the confidence from 0 to 100, and the person.\n",
  environment: KEY_LINES,
  examples: '  outrigger search example.com --titles "CTO,Head of Engineering" --limit 100',
};

const ADDRESS = "its edit address; or any address or the ID, with the PIN";
const DESCRIPTION = "text for readers who do not see the image";
const FOCUS = "point that a cut image keeps: x,y from 0 to 1";

const choice = (flags: string, what: string, choices: string) =>
  new Option(flags, what).choices(choices.split(" "));
const print = () =>
  choice("--print <what>", "print only this address of each image", "url edit").conflicts("json");
const json = (what: string) => new Option("--json", `print ${what}`);
const expires = () =>
  new Option(
    "--expires <when>",
    "when the image expires: after 30m, 12h, 7d or 2w, on a date (ISO 8601), or never",
  ).argParser((text) => parseExpiry(text));

/** Adds the commands for images of a running service: `upload`, `list`, `get`, `edit` and `rm`. */
export function addImageCommands(program: Command): void {
  const add = (name: string, texts: CommandTexts) =>
    addCommand(program, name, texts).option("--to <url>", TO_HELP);
  add("upload", UPLOAD)
    .argument("<file...>", "files or URLs; - for standard input")
    .addOption(expires())
    .option("--name <name>", "name of the image, instead of the file name")
    .option("--description <text>", DESCRIPTION)
    .option("--focus <point>", FOCUS, parsePoint)
    .option("--ticket <ticket>", "upload ticket, or its address: permits one file, without other access")
    .addOption(json("a JSON object per image"))
    .addOption(print())
    .option("--no-record", "do not add the images to outrigger list")
    .option("--no-wait", "do not wait until the image is ready")
    .action(lazyAction(async () => (await import("./upload.ts")).upload));
  addCommand(program, "list", LIST)
    .addOption(print())
    .addOption(json("a JSON object per image"))
    .action(lazyAction(async () => (await import("./own-images.ts")).list));
  add("get", GET)
    .argument("<address>", "any address of the image, or its ID")
    .option("--as <format>", `${FORMATS.join(", ")} (default: as uploaded)`, parseFormat)
    .option("--output <file>", "file to write (default: <id>.<format>); - for standard output")
    .option("--resize <box>", "fit into <width>x<height>, <width>x or x<height>, in pixels")
    .option("--force", "replace an existing file")
    .addOption(json("the record instead"))
    .action(lazyAction(async () => (await import("./get.ts")).get));
  add("edit", EDIT)
    .argument("<address>", ADDRESS)
    .option("--pin <pin>", "PIN, if the address has none")
    .option("--name <name>", "new name")
    .option("--description <text>", `${DESCRIPTION}; empty: none`)
    .option("--focus <point>", `${FOCUS}, or none`, (text) => (text === "none" ? null : parsePoint(text)))
    .addOption(expires())
    .addOption(json("the record"))
    .action(lazyAction(async () => (await import("./images.ts")).edit));
  add("rm", RM)
    .argument("<address...>", ADDRESS)
    .option("--pin <pin>", "PIN, if an address has none")
    .option("--yes", "do not ask; required without a terminal")
    .action(lazyAction(async () => (await import("./images.ts")).rm));
}

/** Adds the commands for the lookup of a running service: `find`, `verify` and `search`. */
export function addLookupCommands(program: Command): void {
  const add = (name: string, texts: CommandTexts) =>
    addCommand(program, name, texts)
      .option("--to <url>", TO_HELP)
      .option("--key-file <file>", "file with the key in its first line (default: OUTRIGGER_API_KEY)")
      .option("--json", "print the reply as JSON, for each address in one line");
  add("find", FIND)
    .option("--domain <domain>", "domain of the person's organization")
    .option("--company <name>", "name of the organization, instead of its domain")
    .requiredOption("--name <name>", "first and last name")
    .action(lazyAction(async () => (await import("./lookup.ts")).find));
  add("verify", VERIFY)
    .argument("<address...>", "email addresses")
    .action(lazyAction(async () => (await import("./lookup.ts")).verify));
  add("search", SEARCH)
    .argument("<domain>")
    .option("--limit <number>", "list at most this many, 1 to 100 (default: 10)", parseLimit)
    .option("--offset <number>", "skip this many", parseCount)
    .addOption(choice("--type <type>", "only addresses of this type", "personal generic"))
    .option("--titles <list>", "only people with one of these job titles, separated by commas")
    .option("--required <list>", "only addresses with all of these: full_name, position, phone_number")
    .option("--status <list>", "only addresses whose latest verdict is one of valid, accept_all, unknown")
    .action(lazyAction(async () => (await import("./lookup.ts")).search));
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
