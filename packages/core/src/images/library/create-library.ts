import { checkOptions } from "../../check-options.ts";
import { abortSignal } from "../../contract-rules.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { ACT_RULES } from "../life/act-rules.ts";
import { loadNotOver } from "../life/damaged-image.ts";
import { removeImage } from "../life/end-image.ts";
import { addedDetailsOf, detailsOf } from "../record/image-links.ts";
import { isImageId } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { unknownImage } from "../record/image-state.ts";
import { shownRevision } from "../record/shown-revision.ts";
import { addSource, inText, neverAborted } from "./add-source.ts";
import { changeImage, parseChange } from "./change-image.ts";
import { findImage } from "./find-image.ts";
import { ADD_RULES, CHANGE_RULES, EDIT_RULES, type ImageLibrary, type StoredImage } from "./image-library.ts";
import type { LibraryContext } from "./library-context.ts";
import { OPEN_RULES, openImage, reviewImage } from "./open-image.ts";
import { checkSource, holdErrors, releaseSource } from "./spool-source.ts";

const FIND_RULES = { signal: abortSignal };

/**
 * @param run Runs the work of a call. Rejects if the service is closed.
 * @param closing Aborts waiting calls when the service closes.
 */
export function createLibrary(
  context: LibraryContext,
  run: <T>(work: () => Promise<T>) => Promise<T>,
  closing: AbortSignal,
): ImageLibrary {
  const { guard, settings } = context;
  const base = settings.publicUrl ?? "";

  /** Runs work on an image once the storage is open. A malformed ID is rejected without a lookup. */
  function runOn<T>(id: string, work: () => Promise<T>): Promise<T> {
    return run(async () => {
      if (!isImageId(id)) throw unknownImage();
      if (!guard.isOpen) await guard.open();
      return work();
    });
  }

  return {
    async add(source, options) {
      try {
        checkSource(source);
        holdErrors(source);
        const given = checkOptions("add", options, ADD_RULES);
        return await run(async () => {
          // Before the first write: an image without a PIN could not be edited.
          if (!guard.isOpen) await guard.open();
          const { record } = await addSource(context, closing, source, given);
          const revision = shownRevision(record);
          return { ...addedDetailsOf(base, record, context.pins.pinOf(record.id)), revision };
        });
      } catch (error) {
        releaseSource(source);
        throw error;
      }
    },
    async open(id, options) {
      const given = checkOptions("open", options, OPEN_RULES);
      return runOn(id, () => openImage(context, id, given, given.signal ?? neverAborted()));
    },
    async find(id, options) {
      const { signal } = checkOptions("find", options, FIND_RULES);
      return runOn(id, async () => stored(base, await findImage(context, id, signal)));
    },
    async edit(id, change, options) {
      const { expiresAt, ...others } = checkOptions("edit", change, CHANGE_RULES);
      const { ifRevision, signal } = checkOptions("edit", options, EDIT_RULES);
      return runOn(id, async () => {
        const current = await findImage(context, id, signal);
        if (ifRevision !== undefined && ifRevision !== shownRevision(current.record)) {
          throw new ServiceError("conflict", "The image has changed since this revision");
        }
        const parsed = parseChange({ ...others, expiresAt: inText(expiresAt) }, "code", context);
        return unlessEnded(context, id, async () =>
          stored(base, await changeImage(context, current, parsed)),
        );
      });
    },
    async review(id, options) {
      const given = checkOptions("review", options, OPEN_RULES);
      return runOn(id, () => reviewImage(context, id, given, given.signal ?? neverAborted()));
    },
    async remove(id, options) {
      // Without a name, it is the host's own use of its images.
      const { by } = checkOptions("remove", options, ACT_RULES);
      await runOn(id, async () => {
        const current = await loadNotOver(context, id);
        await unlessEnded(context, id, () => removeImage(context, current, by));
      });
    },
  };
}

function stored(base: string, { record }: CurrentRecord): StoredImage {
  return { ...detailsOf(base, record), revision: shownRevision(record) };
}

/** Runs a change. If it loses a race against the end of the image, it rejects with the error for that end. */
async function unlessEnded<T>(context: LibraryContext, id: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (isServiceError(error, "conflict")) await loadNotOver(context, id);
    throw error;
  }
}
