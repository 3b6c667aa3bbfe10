import {
  type ImageAdmin,
  type ImageChangeOfMany,
  isServiceError,
  type WithholdOptions,
} from "@outrigger/core";
import { mayProceed, requireAnswer } from "../../../cli/confirm.ts";
import { note, printFailure } from "../../../cli/print.ts";
import { progressLine, rateText } from "../../../cli/progress-line.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { withAdmin } from "../with-admin.ts";
import { imageIdsOf } from "./image-ids.ts";

/** `outrigger images withhold`: every address of an image answers 451 from now on. */
export async function withhold(images: string[], flags: DataFlags & WithholdOptions): Promise<void> {
  const { reason, authority, deleteAfter } = flags;
  const options = {
    reason,
    ...(authority === undefined ? {} : { authority }),
    ...(deleteAfter === undefined ? {} : { deleteAfter }),
  };
  await changeImages(imageIdsOf(images), flags, "withheld", (id, admin) => admin.withhold(id, options));
}

/** `outrigger images release`: serves withheld images again. */
export async function release(images: string[], flags: DataFlags): Promise<void> {
  await changeImages(imageIdsOf(images), flags, "released", (id, admin) => admin.release(id));
}

/** `outrigger images accept`: serves held images. */
export async function accept(images: string[], flags: DataFlags): Promise<void> {
  await changeImages(imageIdsOf(images), flags, "accepted", (id, admin) => admin.accept(id));
}

/** `outrigger images refuse`: ends the review of held images, and deletes their bytes. */
export async function refuse(images: string[], flags: DataFlags & { reason: string }): Promise<void> {
  const { reason } = flags;
  await changeImages(imageIdsOf(images), flags, "refused", (id, admin) => admin.refuse(id, reason));
}

/** `outrigger images rm`: deletes images for good, after a confirmation at a terminal. */
export async function remove(images: string[], flags: DataFlags & { yes?: boolean }): Promise<void> {
  const { yes = false } = flags;
  const ids = imageIdsOf(images);
  requireAnswer(yes);
  const what = ids.length === 1 ? `image ${ids[0]}` : `${ids.length} images`;
  if (await mayProceed(yes, `Delete ${what} for good?`))
    await changeImages(ids, flags, "deleted", (id, admin) => admin.remove(id));
}

/** `outrigger images sweep`: deletes expired images now instead of at the next interval of the server. */
export async function sweep(flags: DataFlags): Promise<void> {
  await withAdmin(flags, async (admin) => {
    const progress = progressLine();
    const beganAt = performance.now();
    const { looked, emptied, forgotten, failed } = await admin
      .sweep({
        onProgress: (report) =>
          progress.update(() => `${report.looked} checked, ${rateText(report.looked, beganAt)}`),
      })
      .finally(() => progress.close());
    process.stdout.write(`${looked} checked: ${emptied} emptied, ${forgotten} forgotten, ${failed} failed\n`);
    if (failed > 0) process.exitCode = 1;
  });
}

/** `outrigger images reindex`: makes the next sweep check every image. */
export async function reindex(flags: DataFlags): Promise<void> {
  await withAdmin(flags, async (admin) => {
    const { damaged } = await admin.reindex();
    process.stdout.write("Every image is scheduled: the next sweep checks all of them\n");
    if (damaged > 0) note(`${damaged} damaged: see outrigger images verify --help`);
  });
}

async function changeImages(
  ids: readonly string[],
  flags: DataFlags,
  done: string,
  change: ImageChangeOfMany,
): Promise<void> {
  await withAdmin(flags, (admin) => changeEach(admin, ids, done, change));
}

/**
 * Changes images and prints a line for each, in the given order. Prints a failure on standard error, sets the exit code to 1, and
 * continues with the other images.
 * @param done The printed result, e.g. `withheld`.
 */
export async function changeEach(
  admin: ImageAdmin,
  ids: readonly string[],
  done: string,
  change: ImageChangeOfMany,
): Promise<void> {
  // If the reader has ended, the remaining images are still changed.
  process.stdout.on("error", () => {});
  let printed = Promise.resolve();
  await admin.changeMany(ids, (id, each) => {
    const changing = change(id, each).then(
      () => null,
      (error) => {
        if (!isServiceError(error)) throw error;
        return error;
      },
    );
    const before = printed;
    printed = changing.then(async (failure) => {
      await before;
      if (failure === null) process.stdout.write(`${id} ${done}\n`);
      else printFailure(`${id}: ${failure.message}`);
    });
    printed.catch(() => undefined); // `changeMany` rejects with the same error.
    return changing.then(() => undefined);
  });
  await printed;
}
