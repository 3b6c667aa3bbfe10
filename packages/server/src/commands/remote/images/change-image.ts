import type { PicturePoint } from "@outrigger/client";
import { confirm } from "../../../cli/confirm.ts";
import { jsonText, printOut } from "../../../cli/print-out.ts";
import { ConfigError } from "../../../config/config-error.ts";
import { imagesClientAt } from "../clients.ts";
import { doEach, doOne } from "../do-each.ts";
import { untilInterrupted } from "../until-interrupted.ts";
import { imageTargetOf, imageTargetsOf, pinOf } from "./image-target.ts";
import { imageText } from "./image-text.ts";

/** The validated options of `outrigger edit`. */
export interface EditFlags {
  to?: string;
  pin?: string;
  name?: string;
  expires?: Date | "never";
  /** `null` removes it. */
  focus?: PicturePoint | null;
  json?: boolean;
}

/** `outrigger edit`: changes the name, expiry or focus of an image and prints the result. */
export async function edit(address: string, flags: EditFlags): Promise<void> {
  const { name, expires, focus, json = false } = flags;
  const target = imageTargetOf(address, flags.to);
  const pin = pinOf(target, flags.pin);
  if (name === undefined && expires === undefined && focus === undefined) {
    throw new ConfigError("The command line", ["--name, --expires or --focus: one of them is required"]);
  }
  const change = {
    ...(name === undefined ? {} : { name }),
    ...(expires === undefined ? {} : { expiresAt: expires }),
    ...(focus === undefined ? {} : { focus }),
  };
  const { baseUrl, id } = target;
  const client = imagesClientAt(baseUrl);
  await untilInterrupted(async (signal) => {
    const image = await doOne(id, baseUrl, () => client.edit(id, pin, change, { signal }));
    printOut(json ? jsonText(image) : imageText(image));
  });
}

/** The options of `outrigger rm`, as typed. */
export interface RmFlags {
  to?: string;
  pin?: string;
  yes?: boolean;
}

/** `outrigger rm`: deletes images for good, after a confirmation at a terminal. */
export async function rm(addresses: string[], { to, pin, yes = false }: RmFlags): Promise<void> {
  const targets = imageTargetsOf(addresses, to).map((target) => ({ ...target, pin: pinOf(target, pin) }));
  if (!yes && !process.stdin.isTTY) {
    throw new ConfigError("The command line", ["--yes: is required without a terminal"]);
  }
  const what = targets.length === 1 ? `image ${targets[0]?.id}` : `${targets.length} images`;
  if (!yes && !(await confirm(`Delete ${what} for good? [y/N] `))) {
    process.stderr.write("outrigger: nothing was deleted\n");
    process.exitCode = 1;
    return;
  }
  await untilInterrupted(async (signal) => {
    const tasks = targets.map(({ baseUrl, id, pin: known }) => ({
      name: id,
      baseUrl,
      async run() {
        await imagesClientAt(baseUrl).remove(id, known, { signal });
        printOut(`${id} deleted\n`);
      },
    }));
    await doEach(tasks, signal);
  });
}
