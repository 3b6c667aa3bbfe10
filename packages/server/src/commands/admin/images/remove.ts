import { confirm } from "../../../cli/confirm.ts";
import { ConfigError } from "../../../config/config-error.ts";
import { type DataFlags, withAdmin } from "../with-admin.ts";
import { changeImages } from "./change-images.ts";
import { imageIdsOf } from "./image-ids.ts";

/** The options of `outrigger images rm`, as they were typed. */
export interface RemoveFlags extends DataFlags {
  yes?: boolean;
}

/** `outrigger images rm`: deletes images for good, after a question where somebody can be asked. */
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
    process.stderr.write("outrigger: nothing was deleted\n");
    process.exitCode = 1;
  });
}
