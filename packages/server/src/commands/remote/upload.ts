import { openAsBlob, statSync } from "node:fs";
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
import { bytesText, sniffType } from "@outrigger/core/values";
import { timeText } from "../../cli/amounts.ts";
import { fileReasonOf } from "../../cli/error-reason.ts";
import { untilInterrupted } from "../../cli/interruption.ts";
import { jsonText, printable, printOut } from "../../cli/print.ts";
import { progressLine, secondsSince } from "../../cli/progress-line.ts";
import { StartError, usageError } from "../../config/config-error.ts";
import { imageText } from "./images.ts";
import { type PrintFlags, printAddress, recordOwn } from "./own-images.ts";
import { doEach, imagesClientAt, serviceUrlOf } from "./service.ts";

/** Number of first bytes that show the type of a file. */
const HEAD_BYTES = 4096;

/** Uploads at a time. */
const CONCURRENCY = 3;

/** A ticket, and before it the address of the service: as for requests, or with the ticket in the fragment, for the upload page. */
const TICKET = /^(?:(https?:\/\/[^?#]+?)?(?:\/api\/images\.\w+)?\/?[?#]ticket=)?[\w-]+$/;

/** The validated options of `outrigger upload`. */
export interface UploadFlags extends PrintFlags {
  to?: string;
  name?: string;
  description?: string;
  expires?: Date | "never";
  focus?: PicturePoint;
  ticket?: string;
  wait?: boolean;
  record?: boolean;
}

/** `outrigger upload`: uploads images, three at a time, and prints their addresses in the order of the files. */
export async function upload(
  paths: string[],
  { to, json = false, print, record = true, ...flags }: UploadFlags,
): Promise<void> {
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
    const line = progressLine();
    const transfer = new Transfer(paths);
    const results = new Map<number, ImageRecord & Partial<CreatedImage>>();
    const send = async (path: string, at: number) => {
      const source = await openSource(path);
      try {
        const created = await client.upload(source, {
          name,
          description,
          expiresAt,
          focus,
          ticket,
          wait,
          resumable: true,
          signal,
          onProgress({ sentBytes, totalBytes }) {
            transfer.sent(at, sentBytes, totalBytes);
            line.update(() => transfer.text());
          },
          onCreated: (image) => results.set(at, image),
        });
        results.set(at, created);
      } catch (error) {
        // An image rejected during processing no longer exists.
        if (error instanceof OutriggerError && error.status === 404) results.delete(at);
        throw error instanceof OutriggerError || signal.aborted ? error : unreadable(path, error);
      } finally {
        transfer.end(at);
        const image = results.get(at);
        if (record && image !== undefined) recordOwn({ ...image, service: baseUrl });
      }
    };
    const tasks = paths.map((path, at) => {
      // The query of a URL may hold secrets.
      const shown = isUrl(path) ? path.replace(/[?#].*$/s, "") : path;
      const ended = () => {
        line.hide();
        // Printed even if the wait for its processing failed: the PIN is never shown again.
        const image = results.get(at);
        if (image === undefined) return;
        if (json) printOut(jsonText({ file: shown, ...image }));
        else if (print !== undefined) printAddress(image, print);
        else printOut(between + imageText(image));
        between = "\n";
      };
      return { name: printable(shown), baseUrl, run: () => send(path, at), ended };
    });
    await doEach(tasks, signal, CONCURRENCY).finally(() => line.close());
  });
}

/** The progress of all files. */
class Transfer {
  readonly #beganAt = performance.now();
  readonly #files: { sent: number; total: number; hasEnded: boolean }[];

  constructor(paths: readonly string[]) {
    this.#files = paths.map((path) => {
      const total = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      return { sent: 0, total, hasEnded: false };
    });
  }

  sent(at: number, sent: number, total: number): void {
    Object.assign(this.#files[at] ?? {}, { sent, total });
  }

  /** A file that has failed counts as sent. */
  end(at: number): void {
    const file = this.#files[at];
    Object.assign(file ?? {}, { sent: file?.total, hasEnded: true });
  }

  text(): string {
    const sum = (key: "sent" | "total") => this.#files.reduce((bytes, file) => bytes + file[key], 0);
    const [sent, total] = [sum("sent"), sum("total")];
    const done = total === 0 ? 0 : Math.min(1, sent / total);
    const bar = "#".repeat(Math.round(done * 10)).padEnd(10, ".");
    const left = sent === 0 ? 0 : ((total - sent) * secondsSince(this.#beganAt)) / sent;
    const files = this.#files.filter(({ hasEnded }) => hasEnded).length;
    const time = left > 0 ? `${timeText(left)} left` : "processing";
    return `[${bar}] ${time}, ${bytesText(sent)} of ${bytesText(total)}, ${files} of ${this.#files.length} files`;
  }
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
