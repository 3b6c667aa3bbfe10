import { type CreatedImage, type ImageRecord, type PicturePoint, parseImageAddress } from "@outrigger/client";
import { bytesText } from "@outrigger/core/values";
import { expiryText } from "../../cli/amounts.ts";
import { mayProceed, requireAnswer } from "../../cli/confirm.ts";
import { untilInterrupted } from "../../cli/interruption.ts";
import { jsonText, labelledLines, printable, printOut } from "../../cli/print.ts";
import { usageError } from "../../config/config-error.ts";
import { ownImage, recordOwn } from "./own-images.ts";
import { doEach, doOne, imagesClientAt, serviceUrlOf } from "./service.ts";

/** An ID that begins with a hyphen gets a slash before it, so that it is not parsed as an option. */
const ID = /^\/?([A-Za-z0-9_-]{22})$/;

/** The validated options of `outrigger edit`. */
export interface EditFlags {
  to?: string;
  pin?: string;
  name?: string;
  /** Empty: removes it. */
  description?: string;
  expires?: Date | "never";
  /** `null` removes it. */
  focus?: PicturePoint | null;
  json?: boolean;
}

/** `outrigger edit`: changes the name, description, expiry or focus of an image and prints the result. */
export async function edit(address: string, flags: EditFlags): Promise<void> {
  const { name, description, expires: expiresAt, focus, json = false } = flags;
  const target = imageTargetOf(address, flags.to);
  const { baseUrl, id } = target;
  const pin = pinOf(target, flags.pin);
  const change = { name, description, expiresAt, focus };
  if (Object.values(change).every((value) => value === undefined))
    throw usageError("--name, --description, --expires or --focus: one of them is required");
  await untilInterrupted(async (signal) => {
    const run = () => imagesClientAt(baseUrl).edit(id, pin, change, { signal });
    const image = await doOne({ name: id, baseUrl, run });
    const own = ownImage(target);
    if (own !== undefined) recordOwn({ ...own, name: image.name, expiresAt: image.expiresAt });
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
  requireAnswer(yes);
  const what = targets.length === 1 ? `image ${targets[0]?.id}` : `${targets.length} images`;
  if (!(await mayProceed(yes, `Delete ${what} for good?`))) return;
  await untilInterrupted(async (signal) => {
    const tasks = targets.map(({ baseUrl, id, pin: known }) => ({
      name: id,
      baseUrl,
      async run() {
        await imagesClientAt(baseUrl).remove(id, known, { signal });
        const own = ownImage({ baseUrl, id });
        if (own !== undefined) recordOwn({ ...own, isDeleted: true });
        printOut(`${id} deleted\n`);
      },
    }));
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
  if (wrong.length > 0) throw usageError(...wrong);
  return [...targets.values()];
}

/**
 * The PIN of an image: from its address, otherwise as typed, otherwise from the environment, otherwise from the list of uploads.
 * @throws ConfigError for a missing or invalid PIN, which is not quoted.
 */
export function pinOf(target: ImageTarget, typed: string | undefined): string {
  const { baseUrl, id, pin } = target;
  const stored = () => parseImageAddress(ownImage(target)?.editUrl ?? "")?.pin;
  const known = pin || typed || process.env.OUTRIGGER_PIN || stored() || "";
  // As the client reads a PIN.
  const plain = parseImageAddress(`${baseUrl}/${id}?${new URLSearchParams({ pin: known })}`)?.pin;
  if (plain) return known;
  throw usageError(
    `${id}: needs its PIN (16 letters and digits): use the edit address, or set OUTRIGGER_PIN or --pin`,
  );
}

/** The facts and addresses of an image as text. Names are untrusted. */
export function imageText(image: ImageRecord & Partial<Pick<CreatedImage, "editUrl">>): string {
  const { name, description, type, size, width, height, status, expiresAt, url, editUrl } = image;
  const pixels = width === null || height === null ? [] : [`${width} × ${height}`];
  const facts = [printable(name), printable(type), ...pixels, bytesText(size)].join("  ");
  const lines = labelledLines({
    // Earlier releases of the service have none.
    Description: description ? printable(description) : null,
    Page: printable(`${url}/view`),
    Image: printable(url),
    Edit: editUrl === undefined ? null : printable(editUrl),
    Expires: expiryText(expiresAt),
    Status:
      status === "ready"
        ? null
        : `${printable(status)}: its addresses answer 202 until it is ${status === "held" ? "accepted" : "ready"}`,
  });
  return `${facts}\n${lines}`;
}
