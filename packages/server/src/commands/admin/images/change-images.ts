import { isServiceError, type WithholdOptions } from "@outrigger/core";
import { confirm } from "../../../cli/confirm.ts";
import { printFailure } from "../../../cli/print-out.ts";
import { progressLine, rateText } from "../../../cli/progress-line.ts";
import { ConfigError } from "../../../config/config-error.ts";
import { type DataFlags, withAdmin } from "../with-admin.ts";
import { imageIdsOf } from "./image-ids.ts";

/** The options of `outrigger images withhold`, proved. */
export type WithholdFlags = DataFlags & WithholdOptions;

/** `outrigger images withhold`: 451 for all of an image, from now on. */
export async function withhold(images: string[], flags: WithholdFlags): Promise<void> {
  const { reason, authority, deleteAfter, ...where } = flags;
  const ids = imageIdsOf(images);
  const options = {
    reason,
    ...(authority === undefined ? {} : { authority }),
    ...(deleteAfter === undefined ? {} : { deleteAfter }),
  };
  await withAdmin(where, (admin) => changeImages(ids, "withheld", (id) => admin.withhold(id, options)));
}

/** `outrigger images release`: undoes that. */
export async function release(images: string[], flags: DataFlags): Promise<void> {
  const ids = imageIdsOf(images);
  await withAdmin(flags, (admin) => changeImages(ids, "released", (id) => admin.release(id)));
}

/** The options of `outrigger images rm`, as they were typed. */
export interface RemoveFlags extends DataFlags {
  yes?: boolean;
}

/** `outrigger images rm`: deletes images for good, after a question at a terminal. */
export async function remove(images: string[], { yes = false, ...flags }: RemoveFlags): Promise<void> {
  const ids = imageIdsOf(images);
  if (!yes && !process.stdin.isTTY) {
    throw new ConfigError("The command line", ["--yes: is needed where there is no terminal to ask at"]);
  }
  await withAdmin(flags, async (admin) => {
    const what = ids.length === 1 ? `image ${ids[0]}` : `${ids.length} images`;
    if (yes || (await confirm(`Delete ${what} for good? [y/N] `))) {
      await changeImages(ids, "deleted", (id) => admin.remove(id));
      return;
    }
    printFailure("nothing was deleted");
  });
}

/** `outrigger images sweep`: deletes what has expired, without waiting for the server's interval. */
export async function sweep(flags: DataFlags): Promise<void> {
  await withAdmin(flags, async (admin) => {
    const progress = progressLine();
    const beganAt = performance.now();
    const { looked, emptied, forgotten, failed } = await admin
      .sweep({
        onProgress: (report) =>
          progress.update(`${report.looked} looked at, ${rateText(report.looked, beganAt)}`),
      })
      .finally(() => progress.close());
    process.stdout.write(
      `${looked} looked at: ${emptied} emptied, ${forgotten} forgotten, ${failed} failed\n`,
    );
    if (failed > 0) process.exitCode = 1;
  });
}

/** `outrigger images reindex`: has the next sweep look at every image. */
export async function reindex(flags: DataFlags): Promise<void> {
  await withAdmin(flags, async (admin) => {
    const { damaged } = await admin.reindex();
    process.stdout.write("Every image is noted: the next sweep looks at all of them\n");
    if (damaged > 0)
      process.stderr.write(`outrigger: ${damaged} damaged: see outrigger images verify --help\n`);
  });
}

/**
 * Changes one image after the other and prints a line for each. A failure is printed on the standard error and makes the exit
 * code 1; the other images are still changed.
 * @param done The printed result, e.g. `withheld`.
 */
export async function changeImages(
  ids: readonly string[],
  done: string,
  change: (id: string) => Promise<void>,
): Promise<void> {
  // The reader may have ended: the rest is done all the same.
  process.stdout.on("error", () => {});
  for (const id of ids) {
    try {
      await change(id);
      process.stdout.write(`${id} ${done}\n`);
    } catch (error) {
      if (!isServiceError(error)) throw error;
      printFailure(`${id}: ${error.message}`);
    }
  }
}
