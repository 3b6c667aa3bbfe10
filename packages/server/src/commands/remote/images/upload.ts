import { type CreatedImage, type ImagesClient, OutriggerError, type PicturePoint } from "@outrigger/client";
import { jsonText, printFailure, printOut } from "../../../cli/print-out.ts";
import { printable } from "../../../cli/printable.ts";
import { ConfigError, StartError } from "../../../config/config-error.ts";
import { imagesClientAt } from "../clients.ts";
import { doEach, type Task } from "../do-each.ts";
import { serviceUrlOf } from "../service-url.ts";
import { untilInterrupted } from "../until-interrupted.ts";
import { imageText } from "./image-text.ts";
import { openPicture, type Picture } from "./picture-file.ts";
import { showUpload, type UploadView } from "./show-upload.ts";

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
export async function upload(paths: string[], flags: UploadFlags): Promise<void> {
  const baseUrl = serviceUrlOf(flags.to);
  requireFitting(paths, flags);
  const client = imagesClientAt(baseUrl);
  await untilInterrupted(async (signal) => {
    const files: Picture[] = [];
    try {
      for (const path of paths) await addPicture(files, path, signal);
      const view = showUpload(
        files.length,
        files.reduce((bytes, { size }) => bytes + size, 0),
      );
      let isFirst = true;
      const print = (text: string) => {
        printOut(isFirst || flags.json === true ? text : `\n${text}`);
        isFirst = false;
      };
      const tasks = files.map((file): Task => {
        const run = () => send(client, file, flags, { view, signal, print });
        return { name: printable(file.shown), baseUrl, run };
      });
      await doEach(tasks, signal);
    } finally {
      await Promise.all(files.map((file) => file.close()));
    }
  });
}

function requireFitting(paths: readonly string[], { name }: UploadFlags): void {
  const problems: string[] = [];
  if (paths.filter((path) => path === "-").length > 1) {
    problems.push("-: standard input can be read only once");
  }
  if (name !== undefined && paths.length > 1) problems.push("--name: must not be given for several files");
  if (problems.length > 0) throw new ConfigError("The command line", problems);
}

/** A file that cannot be uploaded is reported; the others are still uploaded. */
async function addPicture(files: Picture[], path: string, signal: AbortSignal): Promise<void> {
  try {
    files.push(await openPicture(path, signal));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof StartError)) throw error;
    printFailure(error.message);
  }
}

/** The context of an upload. */
interface Sending {
  view: UploadView;
  signal: AbortSignal;
  print(text: string): void;
}

async function send(
  client: ImagesClient,
  file: Picture,
  { name, expires, focus, json = false, wait = true }: UploadFlags,
  { view, signal, print }: Sending,
): Promise<void> {
  let created: CreatedImage | null = null;
  view.begin(file.shown, file.size);
  try {
    created = await client.upload(file, {
      ...(name === undefined ? {} : { name }),
      ...(expires === undefined ? {} : { expiresAt: expires }),
      ...(focus === undefined ? {} : { focus }),
      onProgress: ({ sentBytes }) => view.update(sentBytes),
      onCreated(image) {
        created = image;
      },
      wait,
      signal,
    });
  } catch (error) {
    // An image rejected during processing no longer exists.
    if (error instanceof OutriggerError && error.status === 404) created = null;
    throw error;
  } finally {
    view.end();
    // Printed even if the wait for its processing failed: the PIN is never shown again.
    if (created !== null) print(json ? jsonText({ file: file.shown, ...created }) : imageText(created));
  }
}
