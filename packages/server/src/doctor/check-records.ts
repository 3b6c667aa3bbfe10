import { type BlobStore, createImageAdmin } from "@outrigger/core";
import { type Finding, warning } from "./finding.ts";

/** Enough to meet damage that is common, few enough not to be waited for. */
const SAMPLE = 50;

/** Reads a few records. @returns a warning where some of them are damaged. */
export async function checkRecords(records: BlobStore): Promise<Finding[]> {
  const damaged: string[] = [];
  let looked = 0;
  const admin = createImageAdmin({ storage: records, onError: () => undefined });
  try {
    for await (const { id, state } of admin.list()) {
      looked++;
      if (state === "damaged") damaged.push(id);
      if (looked === SAMPLE) break;
    }
  } finally {
    await admin.close();
  }
  if (damaged.length === 0) return [];
  const detail = `${damaged.length} of the ${looked} that were looked at are damaged: ${damaged.slice(0, 3).join(", ")}`;
  return [warning("records", detail, "Run outrigger images verify, which finds all of them")];
}
