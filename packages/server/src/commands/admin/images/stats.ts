import type { ImageStats } from "@outrigger/core";
import { sizeText } from "../../../cli/amounts.ts";
import { progressLine, rateText } from "../../../cli/progress-line.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { withAdmin } from "../with-admin.ts";

/** `outrigger images stats`: the number of images in each state, and the bytes of their originals. */
export async function stats({
  json = false,
  exact = false,
  ...flags
}: DataFlags & { json?: boolean; exact?: boolean }): Promise<void> {
  await withAdmin(flags, async (admin) => {
    const progress = progressLine();
    const beganAt = performance.now();
    const found = await admin
      .stats({
        exact,
        onProgress: (images) => progress.update(`${images} images read, ${rateText(images, beganAt)}`),
      })
      .finally(() => progress.close());
    process.stdout.write(json ? `${JSON.stringify(found)}\n` : table(found));
  });
}

/** The numbers as a table; estimates with their margins. */
export function table({ images, bytes, states, newer, margin, readShare }: ImageStats): string {
  const rows = [
    row("images", images, margin?.images, String),
    row("bytes", bytes, margin?.bytes, sizeText),
    ...Object.entries(states).map(([state, count]) =>
      row(state, count, margin?.states[state as keyof typeof states], String),
    ),
    ...(newer > 0 ? [row("newer", newer, margin?.newer, String)] : []),
  ];
  if (margin === null) return rows.join("");
  const share = (readShare * 100).toPrecision(2);
  return `${rows.join("")}Estimated from ${share} % of the images, with 95 % confidence; --exact counts all images\n`;
}

function row(
  name: string,
  value: number,
  margin: number | undefined,
  text: (value: number) => string,
): string {
  const line = `${name.padEnd(11)} ${text(value).padStart(9)}`;
  if (margin === undefined) return `${line}\n`;
  // For a rare state, a maximum is clearer than "± 300 %".
  if (margin >= value) return `${line}  (at most ${text(value + margin)})\n`;
  return `${line}  ± ${((margin / value) * 100).toPrecision(2)} %\n`;
}
