import type { WithholdOptions } from "@outrigger/core";
import { type DataFlags, withAdmin } from "../with-admin.ts";
import { changeImages } from "./change-images.ts";
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
