import { chooseLeases, NO_LEASES_WARNING } from "@outrigger/core";
import type { StorageTargets } from "../../config/targets/storage-target.ts";
import { openStorage } from "../../storage/open-storage.ts";
import { type Finding, ok, warningOf } from "./finding.ts";

const CHECK = "leases";

/** Which storage keeps the leases of renditions. Nothing for renditions that processes do not share. */
export async function checkLeases(targets: StorageTargets): Promise<Finding[]> {
  if (targets.renditions.kind === "file" || targets.renditions.kind === "memory") return [];
  try {
    const { stores, close } = await openStorage(targets);
    try {
      const { place } = await chooseLeases(stores);
      return [
        place === "none" ? warningOf(CHECK, NO_LEASES_WARNING) : ok(CHECK, `in the storage of the ${place}`),
      ];
    } finally {
      await close();
    }
  } catch {
    // A storage that cannot be used is a finding of its own.
    return [];
  }
}
