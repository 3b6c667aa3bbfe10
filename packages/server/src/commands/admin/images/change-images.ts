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

/** A change of one image, by the methods that `changeMany` gives, or about its reports. It may resolve to a list of further lines. */
type ImageChange = (
  id: string,
  admin: Parameters<ImageChangeOfMany>[1] & Pick<ImageAdmin, "reports">,
) => Promise<unknown>;

/** `outrigger images withhold`: every address of an image answers 451 from now on. */
export async function withhold(images: string[], flags: ListFlags & WithholdOptions): Promise<void> {
  const { reason, authority, deleteAfter, copies } = flags;
  const options = { reason, authority, deleteAfter, copies };
  await changeImages(images, flags, "withheld", (id, admin) => admin.withhold(id, options));
}

/** `outrigger images release`: serves withheld images again. */
export async function release(images: string[], flags: ListFlags & { copies?: boolean }): Promise<void> {
  const { copies } = flags;
  await changeImages(images, flags, "released", async (id, admin) => {
    const { released, withheld } = await admin.release(id, { copies });
    return [
      ...released.slice(1).map((copy) => `${copy} released`),
      ...withheld.map((copy) => `${copy} stays withheld by another decision`),
    ];
  });
}

/** `outrigger images accept`: serves held images. */
export async function accept(images: string[], flags: ListFlags): Promise<void> {
  await changeImages(images, flags, "accepted", (id, admin) => admin.accept(id));
}

/** `outrigger images refuse`: ends the review of held images, and deletes their bytes. */
export async function refuse(images: string[], flags: ListFlags & { reason: string }): Promise<void> {
  await changeImages(images, flags, "refused", (id, admin) => admin.refuse(id, flags.reason));
}

/** `outrigger images keep`: decides the reports of images that stay. */
export async function keep(images: string[], flags: ListFlags & { note?: string }): Promise<void> {
  const decision = { decision: "kept", note: flags.note } as const;
  await changeImages(images, flags, "kept", (id, admin) => admin.reports.decide(id, decision));
}

/** `outrigger images rm`: deletes images for good, after a confirmation at a terminal. */
export async function remove(images: string[], flags: ListFlags & { yes?: boolean }): Promise<void> {
  const { yes = false, from } = flags;
  requireAnswer(yes);
  const mayChange = (ids: readonly string[]) =>
    mayProceed(yes, `Delete ${ids.length === 1 ? `image ${ids[0]}` : `${ids.length} images`} for good?`);
  const change: ImageChange = async (id, admin) => {
    // A list that is run again contains images that are deleted already.
    const isOver = (error: unknown) => isServiceError(error, "gone") || isServiceError(error, "withheld");
    await admin.remove(id).catch((error) => {
      if (from === undefined || !isOver(error)) throw error;
    });
  };
  await changeImages(images, flags, "deleted", change, mayChange);
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

/**
 * Changes the given images and those of the list. Prints a line for each, in the given order: a failure on standard error, after which
 * the exit code is 1, and the others follow. Shows the progress if standard output is no terminal, but standard error is.
 * @param done The printed result, e.g. `withheld`. @param mayChange Whether to change them. @default they are changed
 */
async function changeImages(
  images: readonly string[],
  { from, ...flags }: ListFlags,
  done: string,
  change: ImageChange,
  mayChange: (ids: readonly string[]) => Promise<boolean> = async () => true,
): Promise<void> {
  if (images.length === 0 && from === undefined)
    throw usageError("missing required argument 'image', or --from <file>");
  const ids = [...new Set([...imageIdsOf(images), ...(from === undefined ? [] : await imageIdsFrom(from))])];
  if (!(await mayChange(ids))) return;
  // If the reader has ended, the remaining images are still changed.
  process.stdout.on("error", () => {});
  await withAdmin(flags, async (admin) => {
    const failures = new Map<string, number>();
    const progress = process.stdout.isTTY ? undefined : progressLine();
    let printed = Promise.resolve();
    let count = 0;
    const changes = admin.changeMany(ids, (id, each) => {
      const changing = change(id, { ...each, reports: admin.reports }).then(
        (lines) => [`${id} ${done}`, ...(Array.isArray(lines) ? lines : [])],
        (error) => {
          if (!isServiceError(error)) throw error;
          return error;
        },
      );
      const before = printed;
      printed = changing.then(async (outcome) => {
        await before;
        count++;
        progress?.update(() => `${count} of ${ids.length}`);
        if (Array.isArray(outcome)) process.stdout.write(`${outcome.join("\n")}\n`);
        else {
          failures.set(outcome.message, (failures.get(outcome.message) ?? 0) + 1);
          printFailure(`${id}: ${outcome.message}`);
        }
      });
      printed.catch(() => undefined); // `changeMany` rejects with the same error.
      return changing.then(() => undefined);
    });
    await changes.finally(() => progress?.close());
    await printed;
    if (from === undefined) return;
    const failed = [...failures.values()].reduce((sum, each) => sum + each, 0);
    note(`${ids.length - failed} ${done}, ${failed} failed`);
    for (const [reason, times] of failures) note(`${times} failed: ${reason}`);
  });
}
