import {
  type ImageAdmin,
  type ImageChangeOfMany,
  isServiceError,
  type WithholdOptions,
} from "@outrigger/core";
import { mayProceed, requireAnswer } from "../../../cli/confirm.ts";
import { note, printFailure } from "../../../cli/print.ts";
import { progressLine, rateText } from "../../../cli/progress-line.ts";
import { usageError } from "../../../config/config-error.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { withAdmin } from "../with-admin.ts";
import { imageIdsFrom, imageIdsOf } from "./image-ids.ts";

interface ListFlags extends DataFlags {
  /** A file with further images; `-`: the standard input. */
  from?: string;
}

/** `outrigger images withhold`: every address of an image answers 451 from now on. */
export async function withhold(images: string[], flags: ListFlags & WithholdOptions): Promise<void> {
  const { reason, authority, deleteAfter, copies = false } = flags;
  const options = {
    reason,
    copies,
    ...(authority === undefined ? {} : { authority }),
    ...(deleteAfter === undefined ? {} : { deleteAfter }),
  };
  await changeImages(await imagesGiven(images, flags), flags, "withheld", (id, admin) =>
    admin.withhold(id, options),
  );
}

/** `outrigger images release`: serves withheld images again. */
export async function release(images: string[], flags: ListFlags): Promise<void> {
  await changeImages(await imagesGiven(images, flags), flags, "released", (id, admin) => admin.release(id));
}

/** `outrigger images accept`: serves held images. */
export async function accept(images: string[], flags: ListFlags): Promise<void> {
  await changeImages(await imagesGiven(images, flags), flags, "accepted", (id, admin) => admin.accept(id));
}

/** `outrigger images refuse`: ends the review of held images, and deletes their bytes. */
export async function refuse(images: string[], flags: ListFlags & { reason: string }): Promise<void> {
  const { reason } = flags;
  await changeImages(await imagesGiven(images, flags), flags, "refused", (id, admin) =>
    admin.refuse(id, reason),
  );
}

/** `outrigger images rm`: deletes images for good, after a confirmation at a terminal. */
export async function remove(images: string[], flags: ListFlags & { yes?: boolean }): Promise<void> {
  const { yes = false, from } = flags;
  requireAnswer(yes);
  const ids = await imagesGiven(images, flags);
  const what = ids.length === 1 ? `image ${ids[0]}` : `${ids.length} images`;
  if (await mayProceed(yes, `Delete ${what} for good?`))
    await changeImages(ids, flags, "deleted", async (id, admin) => {
      // A list that is run again contains images that are deleted already.
      const isOver = (error: unknown) => isServiceError(error, "gone") || isServiceError(error, "withheld");
      await admin.remove(id).catch((error) => {
        if (from === undefined || !isOver(error)) throw error;
      });
    });
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

async function imagesGiven(images: readonly string[], { from }: ListFlags): Promise<string[]> {
  if (images.length === 0 && from === undefined)
    throw usageError("missing required argument 'image', or --from <file>");
  return [...new Set([...imageIdsOf(images), ...(from === undefined ? [] : await imageIdsFrom(from))])];
}

async function changeImages(
  ids: readonly string[],
  flags: ListFlags,
  done: string,
  change: ImageChangeOfMany,
): Promise<void> {
  await withAdmin(flags, async (admin) => {
    const failures = await changeEach(admin, ids, done, change);
    if (flags.from === undefined) return;
    const failed = [...failures.values()].reduce((sum, count) => sum + count, 0);
    note(`${ids.length - failed} ${done}, ${failed} failed`);
    for (const [reason, count] of failures) note(`${count} failed: ${reason}`);
  });
}

/**
 * Changes images and prints a line for each, in the given order. Prints a failure on standard error, sets the exit code to 1, and
 * continues with the other images. Shows the progress if standard output is no terminal, but standard error is.
 * @param done The printed result, e.g. `withheld`.
 * @returns the number of failures by their reason.
 */
export async function changeEach(
  admin: ImageAdmin,
  ids: readonly string[],
  done: string,
  change: ImageChangeOfMany,
): Promise<ReadonlyMap<string, number>> {
  // If the reader has ended, the remaining images are still changed.
  process.stdout.on("error", () => {});
  const failures = new Map<string, number>();
  const progress = process.stdout.isTTY ? undefined : progressLine();
  let printed = Promise.resolve();
  let count = 0;
  const changes = admin.changeMany(ids, (id, each) => {
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
      count++;
      progress?.update(() => `${count} of ${ids.length}`);
      if (failure === null) process.stdout.write(`${id} ${done}\n`);
      else {
        failures.set(failure.message, (failures.get(failure.message) ?? 0) + 1);
        printFailure(`${id}: ${failure.message}`);
      }
    });
    printed.catch(() => undefined); // `changeMany` rejects with the same error.
    return changing.then(() => undefined);
  });
  await changes.finally(() => progress?.close());
  await printed;
  return failures;
}
