import { pipeline } from "node:stream/promises";
import type { AddressFormat, Download, ReadOptions } from "@outrigger/client";
import { bytesText, parsedUrl, systemCode } from "@outrigger/core/values";
import { untilInterrupted } from "../../cli/interruption.ts";
import { jsonText, printable, printOut } from "../../cli/print.ts";
import { writeAtomically } from "../../cli/write-file.ts";
import { StartError } from "../../config/config-error.ts";
import { imageTargetOf } from "./images.ts";
import { FORMATS } from "./options.ts";
import { doOne, imagesClientAt } from "./service.ts";

/** The formats of originals. */
const ORIGINALS: Readonly<Record<string, AddressFormat>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/svg+xml": "svg",
  "image/x-photoshop": "psd",
  "application/pdf": "pdf",
};

/** The validated options of `outrigger get`. */
export interface GetFlags {
  to?: string;
  as?: AddressFormat;
  output?: string;
  resize?: NonNullable<ReadOptions["resize"]>;
  force?: boolean;
  json?: boolean;
}

/** `outrigger get`: writes a picture to a file or to standard output, or prints its record. */
export async function get(address: string, flags: GetFlags): Promise<void> {
  const { to, as, output, resize, force = false, json = false } = flags;
  const { id, baseUrl } = imageTargetOf(address, to);
  const client = imagesClientAt(baseUrl);
  await untilInterrupted(async (signal) => {
    const run = async () => {
      if (json) return printOut(jsonText(await client.get(id, { signal })));
      const { format: named, options } = parametersOf(address);
      const format = as ?? named ?? ORIGINALS[(await client.waitUntilReady(id, { signal })).type];
      if (format === undefined) throw new StartError(`${id}: set a format with --as`);
      const shape = resize === undefined ? options : { ...options, resize };
      const picture = await client.download(id, format, { ...shape, signal });
      // Other commands would take a name that begins with a hyphen for an option.
      await write(picture, output ?? `${id.replace(/^-/, "_")}.${format}`, force, signal);
    };
    await doOne({ name: id, baseUrl, run });
  });
}

async function write(
  { body, type }: Download,
  output: string,
  replace: boolean,
  signal: AbortSignal,
): Promise<void> {
  try {
    if (output === "-") return await pipeline(body, process.stdout, { signal, end: false });
    const bytes = await writeAtomically(output, body, { replace, mode: 0o666, signal });
    printOut(`${printable(output)}  ${printable(type)}  ${bytesText(bytes)}\n`);
  } catch (error) {
    // Any failure leaves the body unread.
    await body.cancel().catch(() => undefined);
    if (error instanceof StartError && systemCode(error.cause) === "EEXIST")
      throw new StartError(`${error.message}; --force replaces it, --output sets another`);
    // The reader of standard output may end early.
    if (output !== "-" || systemCode(error) !== "EPIPE") throw error;
  }
}

/** The format and parameters in the address of a picture; none in another text. The service checks their values. */
export function parametersOf(address: string): { format: AddressFormat | undefined; options: ReadOptions } {
  const { pathname, searchParams } = parsedUrl(address) ?? new URL("data:");
  const suffix = /\.(\w+)\/?$/.exec(pathname)?.[1]?.replace("jpeg", "jpg");
  const options = Object.fromEntries(searchParams) as ReadOptions; // The client sends each value as its text.
  return { format: FORMATS.find((each) => each === suffix), options };
}
