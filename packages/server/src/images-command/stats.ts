import { sizeText } from "./size-text.ts";
import { type DataFlags, withAdmin } from "./with-admin.ts";

/** The options of `outrigger images stats`, as they were typed. */
export interface StatsFlags extends DataFlags {
  json?: boolean;
}

/** `outrigger images stats`: how many images there are in which state, and the bytes of their originals. */
export async function stats({ json = false, ...flags }: StatsFlags): Promise<void> {
  await withAdmin(flags, async (admin) => {
    const { images, bytes, states, newer } = await admin.stats();
    const rows = [
      ["images", images],
      ["bytes", sizeText(bytes)],
      ...Object.entries(states),
      ...(newer > 0 ? [["newer", newer]] : []),
    ];
    const table = rows.map(([name, value]) => `${String(name).padEnd(11)} ${String(value).padStart(9)}\n`);
    process.stdout.write(json ? `${JSON.stringify({ images, bytes, states, newer })}\n` : table.join(""));
  });
}
