import type { AddressFormat, Download, ImageFormat, ImagesClient, ReadOptions } from "@outrigger/client";
import { sizeText } from "../../../cli/amounts.ts";
import { acceptFor, askedBy, type FITS, formatOfType, type QUALITIES } from "../../../cli/image-formats.ts";
import { jsonText, printOut } from "../../../cli/print-out.ts";
import { printable } from "../../../cli/printable.ts";
import { ConfigError, StartError } from "../../../config/config-error.ts";
import { imagesClientAt } from "../clients.ts";
import { doOne } from "../do-each.ts";
import { untilInterrupted } from "../until-interrupted.ts";
import { imageTargetOf } from "./image-target.ts";
import { safeFileName } from "./safe-file-name.ts";
import { placeOf, writePicture, writeToOutput } from "./write-picture.ts";

/** The validated options of `outrigger get`. */
export interface GetFlags {
  to?: string;
  as?: AddressFormat;
  output?: string;
  resize?: string;
  fit?: (typeof FITS)[number];
  at?: NonNullable<ReadOptions["at"]>;
  background?: string;
  quality?: (typeof QUALITIES)[number];
  page?: number;
  force?: boolean;
  json?: boolean;
}

/** `outrigger get`: writes a picture to a file or to standard output, or prints its record. */
export async function get(address: string, flags: GetFlags): Promise<void> {
  const { id, baseUrl } = imageTargetOf(address, flags.to);
  const client = imagesClientAt(baseUrl);
  await untilInterrupted((signal) =>
    doOne(id, baseUrl, async () => {
      if (flags.json === true) printOut(jsonText(await client.get(id, { signal })));
      else await getPicture(client, { id, address }, flags, signal);
    }),
  );
}

/** The formats with qualities, and those with the quality `auto`. */
const QUALITY_FORMATS: readonly AddressFormat[] = ["jpg", "auto"];
const AUTO_FORMATS: readonly AddressFormat[] = [...QUALITY_FORMATS, "webp", "avif"];

async function getPicture(
  client: ImagesClient,
  { id, address }: { id: string; address: string },
  flags: GetFlags,
  signal: AbortSignal,
): Promise<void> {
  const { quality, resize, page, fit, at, background } = flags;
  const asked = askedBy(address);
  const format = flags.as ?? asked.format ?? (await originalFormat(client, id, signal));
  const formats = quality === "auto" ? AUTO_FORMATS : QUALITY_FORMATS;
  if (quality !== undefined && !formats.includes(format)) {
    const fault = `--quality ${quality}: applies only to ${formats.join(", ")}; add --as ${formats[0]}`;
    throw new ConfigError("The command line", [fault]);
  }
  const isChanged =
    [quality, resize, page, fit, at, background].some((each) => each !== undefined) ||
    format !== asked.format;
  const { preset, s, until, ...shape } = asked.options;
  const download = await client.download(id, format, {
    ...shape,
    // A changed request does not match the signature or the preset.
    ...(isChanged ? {} : { preset, s, until }),
    ...(quality === undefined ? {} : { convert: quality }),
    ...(resize === undefined ? {} : { resize }),
    ...(page === undefined ? {} : { page }),
    ...(fit === undefined ? {} : { fit }),
    ...(at === undefined ? {} : { at }),
    ...(background === undefined ? {} : { background }),
    ...(format === "auto" ? { accept: acceptFor(flags.output) } : {}),
    signal,
  });
  const suffix = format === "auto" ? (formatOfType(download.type) ?? format) : format;
  try {
    await save(download, safeFileName(download.name ?? "", `image.${suffix}`), flags, signal);
  } catch (error) {
    // Any failure leaves the body unread.
    await download.body.cancel().catch(() => undefined);
    throw error;
  }
}

async function originalFormat(client: ImagesClient, id: string, signal: AbortSignal): Promise<ImageFormat> {
  const { type } = await client.waitUntilReady(id, { signal });
  const format = formatOfType(type);
  if (format === null) throw new StartError(`${id}: is a ${printable(type)}: set a format with --as`);
  return format;
}

async function save(
  { body, type }: Download,
  name: string,
  { output, force = false }: GetFlags,
  signal: AbortSignal,
): Promise<void> {
  if (output === "-") {
    await writeToOutput(body, signal);
    return;
  }
  const place = await placeOf(output, name, force);
  const bytes = await writePicture(place, body, signal);
  printOut(`${printable(place.path)}  ${printable(type)}  ${sizeText(bytes)}\n`);
}
