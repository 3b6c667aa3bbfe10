import { ConfigError } from "../config-error.ts";
import { confirm } from "../images-command/confirm.ts";
import { imagesClientAt } from "../remote/clients.ts";
import { doEach } from "../remote/do-each.ts";
import { printOut } from "../remote/print-out.ts";
import { untilInterrupted } from "../remote/until-interrupted.ts";
import { imageTargetsOf, pinOf } from "./image-target.ts";

/** The options of `outrigger rm`, as they were typed. */
export interface RmFlags {
  to?: string;
  pin?: string;
  yes?: boolean;
}

/** `outrigger rm`: deletes images for good, after a question where somebody can be asked. */
export async function rm(addresses: string[], { to, pin, yes = false }: RmFlags): Promise<void> {
  const targets = imageTargetsOf(addresses, to).map((target) => ({ ...target, pin: pinOf(target, pin) }));
  if (!yes && !process.stdin.isTTY) {
    throw new ConfigError("The command line", ["--yes: is needed where there is no terminal to ask at"]);
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
