import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type BlobStore, createFsBlobStore, createImageAdmin } from "@outrigger/core";
import { StartError } from "../../config/config-error.ts";
import { describeTarget } from "../../config/targets/describe-storage.ts";
import type { SharedTarget, StorageTarget } from "../../config/targets/storage-target.ts";
import { memoryWarning } from "../../storage/memory-warning.ts";
import { openTarget } from "../../storage/open-storage.ts";
import { whyUnreachable } from "../../storage/storage-error.ts";
import { tryStorage } from "../../storage/try-storage.ts";
import { checkStorage } from "./check-storage.ts";
import { type Finding, ok, problem, warning, warningOf } from "./finding.ts";

/** Enough to meet damage that is common, few enough not to be waited for. */
const SAMPLE = 50;

/** Whether what the configuration names can be used, and keeps what it is to keep. What is written there is removed. */
export async function checkTarget(shared: SharedTarget): Promise<Finding[]> {
  const { target, roles } = shared;
  if (target.kind === "file") {
    const found = await checkStorage(target.directory);
    const isWell = found.every(({ status }) => status !== "problem");
    const isStocked = isWell && roles.includes("records") && existsSync(join(target.directory, "blobs"));
    return isStocked
      ? [...found, ...(await checkRecords(createFsBlobStore({ directory: target.directory })))]
      : found;
  }
  const check = roles.length === 3 ? "storage" : `storage of ${roles.join(" and ")}`;
  try {
    const { store, warnings } = await openTarget(shared);
    try {
      await tryStorage(store, `doctor/${randomUUID()}`);
      const found = [...memoryWarning(shared), ...(await warnings())];
      const damaged = roles.includes("records") ? await checkRecords(store) : [];
      return [ok(check, describeTarget(target)), ...found.map((text) => warningOf(check, text)), ...damaged];
    } finally {
      await store.close();
    }
  } catch (error) {
    return [problemOf(check, target, error)];
  }
}

function problemOf(check: string, target: StorageTarget, error: unknown): Finding {
  // It says itself what to do.
  if (error instanceof StartError)
    return problem(check, error.message, "Mend that, or name another in storage");
  const detail = `${describeTarget(target)} cannot be used: ${whyUnreachable(target, error)}`;
  return problem(check, detail, "Mend that, or name another in storage");
}

/** Reads a few records. @returns a warning where some of them are damaged. */
async function checkRecords(records: BlobStore): Promise<Finding[]> {
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
