import type { ImageStats } from "@outrigger/core";
import { sizeText } from "../../../cli/amounts.ts";
import { progressLine, rateText } from "../../../cli/progress-line.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { withAdmin } from "../with-admin.ts";

/** `outrigger images stats`: the number of images in each state, and the bytes of their originals. */
export async function stats({ json = false, ...flags }: DataFlags & { json?: boolean }): Promise<void> {
  await withAdmin(flags, async (admin) => {
    const progress = progressLine();
    const beganAt = performance.now();
    const onProgress = (images: number) =>
      progress.update(`${images} images counted, ${rateText(images, beganAt)}`);
    const found = await admin.stats({ onProgress }).finally(() => progress.close());
    process.stdout.write(json ? `${JSON.stringify(found)}\n` : table(found));
  });
}

function table({ images, bytes, states, newer }: ImageStats): string {
  const rows = [
    ["images", images],
    ["bytes", sizeText(bytes)],
    ...Object.entries(states),
    ...(newer > 0 ? [["newer", newer]] : []),
  ];
  return rows.map(([name, value]) => `${String(name).padEnd(11)} ${String(value).padStart(9)}\n`).join("");
}
