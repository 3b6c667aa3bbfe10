import { randomUUID } from "node:crypto";
import { StartError } from "../config-error.ts";
import { describeTarget } from "../storage/describe-storage.ts";
import { memoryWarning } from "../storage/memory-warning.ts";
import { openTarget } from "../storage/open-storage.ts";
import { whyUnreachable } from "../storage/storage-error.ts";
import type { SharedTarget, StorageTarget } from "../storage/storage-target.ts";
import { tryStorage } from "../try-storage.ts";
import { checkStorage } from "./check-storage.ts";
import { type Finding, ok, problem, warningOf } from "./finding.ts";

/** Whether what the configuration names can be used, and keeps what it is to keep. What is written there is removed. */
export async function checkTarget(shared: SharedTarget): Promise<Finding[]> {
  const { target, roles } = shared;
  if (target.kind === "file") return await checkStorage(target.directory);
  const check = roles.length === 3 ? "storage" : `storage of ${roles.join(" and ")}`;
  try {
    const { store, warnings } = await openTarget(shared);
    try {
      await tryStorage(store, `doctor/${randomUUID()}`);
      const found = [...memoryWarning(shared), ...(await warnings())];
      return [ok(check, describeTarget(target)), ...found.map((text) => warningOf(check, text))];
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
