import { stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { AddressFormat, ImagesClient, ReadOptions } from "@outrigger/client";
import { systemCode } from "@outrigger/core/values";
import { sizeText } from "../../cli/amounts.ts";
import { untilInterrupted } from "../../cli/interruption.ts";
import { jsonText, printable, printOut } from "../../cli/print.ts";
import { writeAtomically } from "../../cli/write-file.ts";
import { StartError, usageError } from "../../config/config-error.ts";
import { imageTargetOf } from "./images.ts";
import { FORMATS } from "./options.ts";
import { doOne, imagesClientAt } from "./service.ts";

/** The formats with qualities, and those with the quality `auto`. */
const QUALITY_FORMATS: readonly AddressFormat[] = ["jpg", "auto"];
const AUTO_FORMATS: readonly AddressFormat[] = [...QUALITY_FORMATS, "webp", "avif"];
/** What `auto` may result in. */
const NEGOTIATED: readonly AddressFormat[] = ["avif", "webp", "jpg", "png", "gif"];
/** Characters that some file system rejects, that a terminal may interpret, or that separate paths. */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}<>:"/\\|?*]/gu;
/** Device names of Windows, with any suffix. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;
/** File systems accept 255 bytes; the rest is reserved for the suffix of the temporary file. */
const MAX_NAME_BYTES = 200;

/** The validated options of `outrigger get`. */
export interface GetFlags extends Pick<ReadOptions, "resize" | "fit" | "at" | "background" | "page"> {
  to?: string;
  as?: AddressFormat;
  output?: string;
  quality?: NonNullable<ReadOptions["convert"]>;
  force?: boolean;
  json?: boolean;
}

/** `outrigger get`: writes a picture to a file or to standard output, or prints its record. */
export async function get(address: string, flags: GetFlags): Promise<void> {
  const { id, baseUrl } = imageTargetOf(address, flags.to);
  const client = imagesClientAt(baseUrl);
  await untilInterrupted(async (signal) => {
    const run = async () => {
      if (flags.json === true) printOut(jsonText(await client.get(id, { signal })));
      else await getPicture(client, id, address, flags, signal);
    };
    await doOne({ name: id, baseUrl, run });
  });
}

async function getPicture(
  client: ImagesClient,
  id: string,
  address: string,
  flags: GetFlags,
  signal: AbortSignal,
): Promise<void> {
  const { quality, resize, page, fit, at, background, output, force = false } = flags;
  const asked = askedBy(address);
  const format = flags.as ?? asked.format ?? formatOf((await client.waitUntilReady(id, { signal })).type);
  if (format === undefined) throw new StartError(`${id}: set a format with --as`);
  const formats = quality === "auto" ? AUTO_FORMATS : QUALITY_FORMATS;
  if (quality !== undefined && !formats.includes(format))
    throw usageError(`--quality ${quality}: applies only to ${formats.join(", ")}; add --as ${formats[0]}`);
  const typed = Object.entries({ convert: quality, resize, page, fit, at, background });
  const shaping = Object.fromEntries(typed.filter(([, value]) => value !== undefined));
  const { preset, s, until, ...shape } = asked.options;
  // A changed request does not match the signature or the preset.
  const isChanged = Object.keys(shaping).length > 0 || format !== asked.format;
  const kept = isChanged ? {} : { preset, s, until };
  const accept = format === "auto" ? acceptFor(output) : undefined;
  const download = await client.download(id, format, { ...shape, ...kept, ...shaping, accept, signal });
  const suffix = format === "auto" ? (formatOf(download.type) ?? format) : format;
  try {
    const name = safeFileName(download.name ?? "", `image.${suffix}`);
    if (output === "-") return await pipeline(download.body, process.stdout, { signal, end: false });
    const path = await pathFor(output, name);
    const bytes = await writeAtomically(path, download.body, { replace: force, mode: 0o666, signal });
    printOut(`${printable(path)}  ${printable(download.type)}  ${sizeText(bytes)}\n`);
  } catch (error) {
    // Any failure leaves the body unread.
    await download.body.cancel().catch(() => undefined);
    if (error instanceof StartError && systemCode(error.cause) === "EEXIST")
      throw new StartError(`${error.message}; --force replaces it, --output sets another`);
    // The reader of standard output may end early.
    if (output !== "-" || systemCode(error) !== "EPIPE") throw error;
  }
}

/** The format and options in the address of a picture; none in another text. The service checks their values. */
export function askedBy(address: string): { format: AddressFormat | undefined; options: ReadOptions } {
  const { pathname, searchParams } = new URL(URL.canParse(address) ? address : "data:");
  const suffix = /\.(\w+)\/?$/.exec(pathname)?.[1]?.replace("jpeg", "jpg");
  const options = Object.fromEntries(searchParams) as ReadOptions; // The client sends each value as its text.
  return { format: FORMATS.find((each) => each === suffix), options };
}

/** The format that serves an original unchanged. */
function formatOf(type: string): AddressFormat | undefined {
  return FORMATS.find((format) => typeOf(format) === type.split(";", 1)[0]);
}

function typeOf(format: AddressFormat): string {
  const others: Partial<Record<AddressFormat, string>> = {
    jpg: "image/jpeg",
    svg: "image/svg+xml",
    psd: "image/x-photoshop",
    pdf: "application/pdf",
  };
  return others[format] ?? `image/${format}`;
}

/** The `Accept` header for `auto`: the type of the file to write, else every type that can be stored. */
function acceptFor(output: string | undefined): string {
  const suffix = /\.(\w+)$/.exec(output ?? "")?.[1]?.replace("jpeg", "jpg");
  const named = NEGOTIATED.filter((format) => format === suffix);
  return (named.length > 0 ? named : NEGOTIATED).map(typeOf).join(", ");
}

/**
 * A safe file name: without a path, not hidden, and not parsed as an option by commands.
 * @param name The untrusted name of an image.
 * @param otherwise The name if nothing is left.
 */
export function safeFileName(name: string, otherwise: string): string {
  const last = name.split(/[/\\]/).findLast((part) => part.trim() !== "") ?? "";
  const clean = last
    .replace(UNSAFE, "_")
    .replace(/^[\s.]+|[\s.]+$/g, "")
    .replace(/^-/, "_")
    .replace(DEVICE, "_$&");
  const suffix = /\.\w{1,5}$/.exec(clean)?.[0] ?? "";
  let stem = clean.slice(0, clean.length - suffix.length);
  while (Buffer.byteLength(stem + suffix) > MAX_NAME_BYTES) stem = [...stem].slice(0, -1).join("");
  return stem + suffix || otherwise;
}

/** The file as typed, or a file called `name` in the directory as typed. */
async function pathFor(typed: string | undefined, name: string): Promise<string> {
  if (typed === undefined) return name;
  const there = await stat(typed).catch(() => null);
  return there?.isDirectory() === true ? join(typed, name) : typed;
}
