import type { Finding } from "../finding.ts";
import type { UploadedImage } from "./uploaded-image.ts";
import type { MountVisit } from "./visit.ts";

/** A look at a mount that has an image of ours. Rejects with Node's error where there is no reply. */
export type MountCheck = (visit: MountVisit, image: UploadedImage) => Promise<Finding[]>;

/** An address of an image below the mount point. */
export function pathOf({ id }: Pick<UploadedImage, "id">, suffix: string): string {
  return `/api/images/${id}.${suffix}`;
}
