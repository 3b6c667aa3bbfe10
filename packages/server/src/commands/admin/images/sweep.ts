import { progressLine, rateText } from "../../../cli/progress-line.ts";
import { type DataFlags, withAdmin } from "../with-admin.ts";

/** `outrigger images sweep`: removes what is due, whatever the interval at which the server does it. */
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
