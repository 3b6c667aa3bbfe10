import { openAsBlob } from "node:fs";
import { open, stat } from "node:fs/promises";
import { basename } from "node:path";
import { buffer } from "node:stream/consumers";
import {
  type CreatedImage,
  type ImageRecord,
  OutriggerError,
  type PicturePoint,
  parseImageAddress,
  type UploadSource,
  type UrlSource,
} from "@outrigger/client";
import { sniffType } from "@outrigger/core/values";
import { sizeText } from "../../cli/amounts.ts";
import { confirm } from "../../cli/confirm.ts";
import { fileReasonOf } from "../../cli/error-reason.ts";
import { jsonText, labelledLines, printOut } from "../../cli/print-out.ts";
import { printable } from "../../cli/printable.ts";
import { progressLine } from "../../cli/progress-line.ts";
import { ConfigError, StartError } from "../../config/config-error.ts";
import { doEach, doOne, imagesClientAt, serviceUrlOf, untilInterrupted } from "./service.ts";

/** An ID that begins with a hyphen gets a slash before it, so that it is not parsed as an option. */
const ID = /^\/?([A-Za-z0-9_-]{22})$/;
const PIN = /^[0-9A-Za-z]{16}$/;
/** Number of first bytes that show the type of a file. */
const HEAD_BYTES = 4096;

/** The validated options of `outrigger upload`. */
export interface UploadFlags {
  to?: string;
  name?: string;
  expires?: Date | "never";
  focus?: PicturePoint;
  json?: boolean;
  wait?: boolean;
}

/** `outrigger upload`: uploads pictures one by one and prints their addresses. */
export async function upload(paths: string[], { to, json = false, ...flags }: UploadFlags): Promise<void> {
  const baseUrl = serviceUrlOf(to);
  const problems: string[] = [];
  if (paths.filter((path) => path === "-").length > 1)
    problems.push("-: standard input can be read only once");
  if (flags.name !== undefined && paths.length > 1)
    problems.push("--name: must not be given for several files");
  if (problems.length > 0) throw new ConfigError("The command line", problems);
  const client = imagesClientAt(baseUrl);
  const { name, expires: expiresAt, focus, wait = true } = flags;
  await untilInterrupted(async (signal) => {
    let between = "";
    const send = async (path: string, shown: string) => {
      const source = await openSource(path);
      const line = progressLine();
      let created: CreatedImage | null = null;
      try {
        created = await client.upload(source, {
          name,
          expiresAt,
          focus,
          wait,
          signal,
          onProgress: ({ sentBytes, totalBytes }) =>
            line.update(`${shown}: ${sizeText(sentBytes)} of ${sizeText(totalBytes)}`),
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

function named(blob: Blob, name: string): UploadSource {
  if (blob.size === 0) throw new Error("it is empty");
  return { name, type: blob.type, size: blob.size, stream: () => blob.stream() };
}

function unreadable(path: string, cause: unknown): StartError {
  return new StartError(`${printable(path)}: cannot be uploaded: ${fileReasonOf(cause)}`, { cause });
}

/** The validated options of `outrigger edit`. */
export interface EditFlags {
  to?: string;
  pin?: string;
  name?: string;
  expires?: Date | "never";
  /** `null` removes it. */
  focus?: PicturePoint | null;
  json?: boolean;
}

/** `outrigger edit`: changes the name, expiry or focus of an image and prints the result. */
export async function edit(address: string, flags: EditFlags): Promise<void> {
  const { name, expires: expiresAt, focus, json = false } = flags;
  const target = imageTargetOf(address, flags.to);
  const { baseUrl, id } = target;
  const pin = pinOf(target, flags.pin);
  if (name === undefined && expiresAt === undefined && focus === undefined)
    throw new ConfigError("The command line", ["--name, --expires or --focus: one of them is required"]);
  await untilInterrupted(async (signal) => {
    const run = () => imagesClientAt(baseUrl).edit(id, pin, { name, expiresAt, focus }, { signal });
    const image = await doOne({ name: id, baseUrl, run });
    printOut(json ? jsonText(image) : imageText(image));
  });
}

/** The options of `outrigger rm`, as typed. */
export interface RmFlags {
  to?: string;
  pin?: string;
  yes?: boolean;
}

/** `outrigger rm`: deletes images for good, after a confirmation at a terminal. */
export async function rm(addresses: string[], { to, pin, yes = false }: RmFlags): Promise<void> {
  const targets = imageTargetsOf(addresses, to).map((target) => ({ ...target, pin: pinOf(target, pin) }));
  if (!yes && !process.stdin.isTTY)
    throw new ConfigError("The command line", ["--yes: is required without a terminal"]);
  const what = targets.length === 1 ? `image ${targets[0]?.id}` : `${targets.length} images`;
  if (!yes && !(await confirm(`Delete ${what} for good? [y/N] `))) {
    process.stderr.write("outrigger: nothing was deleted\n");
    process.exitCode = 1;
    return;
  }
  await untilInterrupted(async (signal) => {
    const remove = async ({ baseUrl, id, pin: known }: (typeof targets)[number]) => {
      await imagesClientAt(baseUrl).remove(id, known, { signal });
      printOut(`${id} deleted\n`);
    };
    const tasks = targets.map((target) => ({ ...target, name: target.id, run: () => remove(target) }));
    await doEach(tasks, signal);
  });
}

/** An image of a service. */
export interface ImageTarget {
  /** Address at which the service is mounted. */
  baseUrl: string;
  id: string;
  /** PIN in the address; `null` without one. */
  pin: string | null;
}

/** The image of an address, or of an ID with `--to`. @throws ConfigError that quotes no query, which may hold a PIN. */
export function imageTargetOf(text: string, to: string | undefined): ImageTarget {
  const [target] = imageTargetsOf([text], to);
  if (target === undefined) throw new Error("No image target");
  return target;
}

/** Like {@link imageTargetOf} for several, each once. @throws ConfigError that names all invalid ones. */
export function imageTargetsOf(texts: readonly string[], to: string | undefined): ImageTarget[] {
  const targets = new Map<string, ImageTarget>();
  const wrong: string[] = [];
  for (const text of texts) {
    const [, id] = ID.exec(text) ?? [];
    const target = id === undefined ? parseImageAddress(text) : { baseUrl: serviceUrlOf(to), id, pin: null };
    const key = `${target?.baseUrl}/${target?.id}`;
    // Only one of several addresses of an image may have the PIN.
    if (target !== null) targets.set(key, { ...target, pin: target.pin ?? targets.get(key)?.pin ?? null });
    else wrong.push(`${printable(text.replace(/[?#].*$/s, ""))}: must be an image's address or its ID`);
  }
  if (wrong.length > 0) throw new ConfigError("The command line", wrong);
  return [...targets.values()];
}

/**
 * The PIN of an image: from its address, otherwise as typed, otherwise from the environment.
 * @throws ConfigError for a missing or invalid PIN, which is not quoted.
 */
export function pinOf({ id, pin }: ImageTarget, typed: string | undefined): string {
  const known = pin || typed || process.env.OUTRIGGER_PIN || "";
  if (PIN.test(known.replaceAll("-", ""))) return known;
  throw new ConfigError("The command line", [
    `${id}: needs its PIN (16 letters and digits): use the edit address, or set OUTRIGGER_PIN or --pin`,
  ]);
}

/** The facts and addresses of an image as text. Names are untrusted. */
function imageText(image: ImageRecord & Partial<Pick<CreatedImage, "editUrl">>): string {
  const { name, type, size, width, height, status, expiresAt, url, editUrl } = image;
  const pixels = width === null || height === null ? [] : [`${width} × ${height}`];
  const facts = [printable(name), printable(type), ...pixels, sizeText(size)].join("  ");
  const lines = labelledLines({
    Page: printable(`${url}/view`),
    Image: printable(url),
    Edit: editUrl === undefined ? null : printable(editUrl),
    Expires: expiresAt === null ? "never" : `${printable(expiresAt).slice(0, 16).replace("T", " ")} UTC`,
    Status: status === "ready" ? null : `${printable(status)}: its addresses answer 202 until it is ready`,
  });
  return `${facts}\n${lines}`;
}
