import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { parseImageAddress } from "@outrigger/client";
import { systemCode } from "@outrigger/core/values";
import { expiryText } from "../../cli/amounts.ts";
import { fileReasonOf } from "../../cli/error-reason.ts";
import { jsonText, labelledLines, note, printable, printOut } from "../../cli/print.ts";

/** An upload of this user, as in the file: one JSON object per line, the last line of an image counts. */
export interface OwnImage {
  url: string;
  /** Absent after an upload with a ticket that grants no PIN. */
  editUrl?: string | undefined;
  name: string;
  /** ISO 8601; `null`: never. */
  expiresAt: string | null;
  /** The address of the service that the upload used. */
  service: string;
  isDeleted?: boolean;
}

function listPath(): string {
  const state = process.env.XDG_STATE_HOME ?? "";
  return join(isAbsolute(state) ? state : join(homedir(), ".local", "state"), "outrigger", "uploads.ndjson");
}

/** Appends an upload or its change to the list. A failure is only a warning. */
export function recordOwn(image: OwnImage): void {
  const path = listPath();
  const { url, editUrl, name, expiresAt, service, isDeleted } = image;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // One write at the end of the file, so that commands at the same time lose no line. The break ends a torn line.
    const line = JSON.stringify({ url, editUrl, name, expiresAt, service, isDeleted });
    appendFileSync(path, `\n${line}\n`, { mode: 0o600 });
  } catch (error) {
    note(`${printable(path)}: the image is not in the list: ${fileReasonOf(error)}`);
  }
}

/** The uploads in the list that are neither deleted nor expired, oldest first. Damaged lines are a warning. */
export function ownImages(): OwnImage[] {
  const path = listPath();
  const images = new Map<string, OwnImage>();
  let damaged = 0;
  for (const line of readLines(path)) {
    const image = parseLine(line);
    if (image === null) damaged++;
    else images.set(image.url, image);
  }
  if (damaged > 0) note(`${printable(path)}: damaged lines were skipped: ${damaged}`);
  return [...images.values()].filter(
    ({ isDeleted, expiresAt }) => !isDeleted && (expiresAt === null || Date.parse(expiresAt) > Date.now()),
  );
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") note(`${printable(path)}: cannot be read: ${fileReasonOf(error)}`);
    return [];
  }
}

function parseLine(line: string): OwnImage | null {
  try {
    const image = JSON.parse(line);
    const texts = [image.url, image.name, image.service, image.editUrl ?? "", image.expiresAt ?? ""];
    return texts.every((text) => typeof text === "string") ? image : null;
  } catch {
    return null; // Not JSON, or `null`.
  }
}

/** The entry of an image in the list; absent if it was uploaded to another service. */
export function ownImage({ baseUrl, id }: { baseUrl: string; id: string }): OwnImage | undefined {
  return ownImages().find(
    ({ url, service }) =>
      parseImageAddress(url)?.id === id && (service === baseUrl || url === `${baseUrl}/${id}`),
  );
}

/** What the options `--json` and `--print` select. */
export interface PrintFlags {
  json?: boolean;
  print?: "url" | "edit";
}

/** Prints the bare address that `--print` selects. A missing edit address is a note: the ticket of the upload grants no PIN. */
export function printAddress(
  { url, editUrl }: Pick<OwnImage, "url" | "editUrl">,
  print: "url" | "edit",
): void {
  const address = print === "url" ? url : editUrl;
  if (address !== undefined) printOut(`${printable(address)}\n`);
  else note(`${printable(url)}: has no edit address: the ticket of its upload grants no PIN`);
}

/** `outrigger list`: prints the images that this user has uploaded from this machine. */
export async function list({ json = false, print }: PrintFlags): Promise<void> {
  for (const image of ownImages()) {
    const { name, url, editUrl, expiresAt } = image;
    if (json) printOut(jsonText(image));
    else if (print !== undefined) printAddress(image, print);
    else {
      const edit = editUrl === undefined ? null : printable(editUrl);
      printOut(
        `${printable(name)}\n${labelledLines({ Image: printable(url), Edit: edit, Expires: expiryText(expiresAt) })}`,
      );
    }
  }
}
