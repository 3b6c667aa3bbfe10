import { openAsBlob } from "node:fs";
import { open, stat } from "node:fs/promises";
import { basename } from "node:path";
import { buffer } from "node:stream/consumers";
import {
  type CreatedImage,
  type ImageRecord,
  OutriggerError,
  type PicturePoint,
  type UploadSource,
  type UrlSource,
} from "@outrigger/client";
import { sniffType } from "@outrigger/core/values";
import { sizeText } from "../../cli/amounts.ts";
import { fileReasonOf } from "../../cli/error-reason.ts";
import { untilInterrupted } from "../../cli/interruption.ts";
import { jsonText, printable, printOut } from "../../cli/print.ts";
import { progressLine } from "../../cli/progress-line.ts";
import { StartError, usageError } from "../../config/config-error.ts";
import { imageText } from "./images.ts";
import { doEach, imagesClientAt, serviceUrlOf } from "./service.ts";

/** Number of first bytes that show the type of a file. */
const HEAD_BYTES = 4096;

/** A ticket, and before it the address of the service: as for requests, or with the ticket in the fragment, for the upload page. */
const TICKET = /^(?:(https?:\/\/[^?#]+?)?(?:\/api\/images\.\w+)?\/?[?#]ticket=)?[\w-]+$/;

/** The validated options of `outrigger upload`. */
export interface UploadFlags {
  to?: string;
  name?: string;
  description?: string;
  expires?: Date | "never";
  focus?: PicturePoint;
  ticket?: string;
  json?: boolean;
  wait?: boolean;
}

/** `outrigger upload`: uploads pictures one by one and prints their addresses. */
export async function upload(paths: string[], { to, json = false, ...flags }: UploadFlags): Promise<void> {
  const ticket = flags.ticket || process.env.OUTRIGGER_TICKET || undefined;
  if (ticket !== undefined && !TICKET.test(ticket))
    throw usageError("--ticket: must be an upload ticket, or the address of one");
  if (ticket !== undefined && paths.length > 1) throw usageError("--ticket: permits one file only");
  const baseUrl = serviceUrlOf(to ?? TICKET.exec(ticket ?? "")?.[1]);
  if (paths.filter((path) => path === "-").length > 1)
    throw usageError("-: standard input can be read only once");
  for (const flag of ["name", "description"] as const)
    if (flags[flag] !== undefined && paths.length > 1)
      throw usageError(`--${flag}: must not be given for several files`);
  const client = imagesClientAt(baseUrl);
  const { name, description, expires: expiresAt, focus, wait = true } = flags;
  await untilInterrupted(async (signal) => {
    let between = "";
    const send = async (path: string, shown: string) => {
      const source = await openSource(path);
      const line = progressLine();
      let created: (ImageRecord & Partial<CreatedImage>) | null = null;
      try {
        created = await client.upload(source, {
          name,
          description,
          expiresAt,
          focus,
          ticket,
          wait,
          resumable: true,
          signal,
          onProgress: ({ sentBytes, totalBytes }) =>
            line.update(() => `${shown}: ${sizeText(sentBytes)} of ${sizeText(totalBytes)}`),
          onCreated(image) {
            created = image;
          },
        });
      } catch (error) {
        // An image rejected during processing no longer exists.
        if (error instanceof OutriggerError && error.status === 404) created = null;
        throw error instanceof OutriggerError || signal.aborted ? error : unreadable(path, error);
      } finally {
        line.close();
        // Printed even if the wait for its processing failed: the PIN is never shown again.
        if (created !== null)
          printOut(json ? jsonText({ file: shown, ...created }) : between + imageText(created));
        if (created !== null) between = "\n";
      }
    };
    const tasks = paths.map((path) => {
      // The query of a URL may hold secrets.
      const shown = isUrl(path) ? path.replace(/[?#].*$/s, "") : path;
      return { name: printable(shown), baseUrl, run: () => send(path, shown) };
    });
    await doEach(tasks, signal);
  });
}

function isUrl(path: string): boolean {
  return /^https?:\/\//i.test(path);
}

/** A file of this machine, which is streamed; an input without a length, which is read; or a file that the service fetches. */
async function openSource(path: string): Promise<UploadSource | UrlSource> {
  if (isUrl(path)) return { url: path };
  try {
    const stats = path === "-" ? null : await stat(path);
    if (stats?.isDirectory()) throw new Error("it is a directory");
    // Only the suffix tells that compressed data is a picture.
    const type = /\.svgz?$/i.test(path) ? "image/svg+xml" : "";
    if (stats?.isFile()) return named(await openAsBlob(path, { type }), basename(path));
    const bytes = await buffer(path === "-" ? process.stdin : (await open(path)).createReadStream());
    const sniffed = sniffType(bytes.subarray(0, HEAD_BYTES), type === "" ? undefined : type);
    const suffix = sniffed?.replace(/^.*[/-]|\+xml$/g, "").replace("photoshop", "psd") ?? "bin";
    return named(new Blob([new Uint8Array(bytes)], { type }), `image.${suffix.replace("jpeg", "jpg")}`);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function named(blob: Blob, name: string): File {
  if (blob.size === 0) throw new Error("it is empty");
  return new File([blob], name, { type: blob.type });
}

function unreadable(path: string, cause: unknown): StartError {
  return new StartError(`${printable(path)}: cannot be uploaded: ${fileReasonOf(cause)}`, { cause });
}
