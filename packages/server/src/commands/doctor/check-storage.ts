import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { access, constants, mkdtemp, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createFsBlobStore, createImageAdmin } from "@outrigger/core";
import { chooseLeases, NO_LEASES_WARNING } from "@outrigger/core/images";
import {
  type BlobStore,
  distinctTargets,
  type SharedTarget,
  type StorageTargets,
} from "@outrigger/core/stores";
import { directoryReasonOf, reasonOf } from "../../cli/error-reason.ts";
import { StartError } from "../../config/config-error.ts";
import { describeTarget } from "../../config/targets/describe-storage.ts";
import { inspectTargets } from "../../storage/inspect-targets.ts";
import { openStorage, openTarget } from "../../storage/open-storage.ts";
import { whyUnreachable } from "../../storage/storage-error.ts";
import { memoryWarning } from "../../storage/storage-notices.ts";
import { tryStorage } from "../../storage/try-storage.ts";
import { type ClockReading, checkClock } from "./check-machine.ts";
import { type Finding, ok, problem, warning, warningOf } from "./finding.ts";

/** Enough records to detect common damage, few enough to be read quickly. */
const SAMPLE = 50;
const MIN_FREE_BYTES = 1e9;
const MIN_FREE_SHARE = 0.05;
/** A small image takes as many inodes as a large one, so a volume of small images runs out of inodes first. */
const MIN_FREE_INODES = 100_000;
const MIN_FREE_INODE_SHARE = 0.1;
const MORE_INODES =
  "Move the directory to a file system with more inodes: ext4 made with mkfs.ext4 -i 4096 (bytes per inode) or -N (number of inodes), or XFS, which allocates them on demand";

/** Whether a configured store can be used and is persistent. Deletes its trial data. */
export async function checkTarget(shared: SharedTarget): Promise<Finding[]> {
  const { target, roles } = shared;
  if (target.kind === "file") {
    const found = await checkStorage(target.directory);
    const isStocked = roles.includes("records") && existsSync(join(target.directory, "blobs"));
    if (!isStocked || found.some(({ status }) => status === "problem")) return found;
    return [...found, ...(await checkRecords(createFsBlobStore({ directory: target.directory })))];
  }
  const check = roles.length === 3 ? "storage" : `storage of ${roles.join(" and ")}`;
  try {
    const { store, warnings } = await openTarget(shared);
    try {
      await tryStorage(store, `doctor/${randomUUID()}`);
      const found = [...memoryWarning(shared), ...(await warnings())].map((text) => warningOf(check, text));
      const damaged = roles.includes("records") ? await checkRecords(store) : [];
      return [ok(check, describeTarget(target)), ...found, ...damaged];
    } finally {
      await store.close();
    }
  } catch (error) {
    const why = `${describeTarget(target)} cannot be used: ${whyUnreachable(target, error)}`;
    const detail = error instanceof StartError ? error.message : why;
    return [problem(check, detail, "Fix this, or set another store in storage")];
  }
}

/** Reads a few records. @returns A warning if some are damaged. */
async function checkRecords(records: BlobStore): Promise<Finding[]> {
  const damaged: string[] = [];
  let read = 0;
  const admin = createImageAdmin({ storage: records, onError: () => undefined });
  try {
    for await (const { id, state } of admin.list()) {
      if (state === "damaged") damaged.push(id);
      if (++read === SAMPLE) break;
    }
  } finally {
    await admin.close();
  }
  if (damaged.length === 0) return [];
  const detail = `${damaged.length} of the ${read} records read are damaged: ${damaged.slice(0, 3).join(", ")}`;
  return [warning("records", detail, "Run outrigger images verify to find all damaged records")];
}

/** Whether a data directory can be used or created and has free space. Changes nothing in it. @param directory Absolute path. */
export async function checkStorage(directory: string): Promise<Finding[]> {
  // A directory on the file system of the data: in an existing store that of temporary files, which the store sweeps if
  // this process is killed; otherwise the closest existing parent.
  let nearest = join(directory, "tmp");
  while (!existsSync(nearest)) nearest = dirname(nearest);
  let clock: ClockReading;
  try {
    clock = await tryStoreIn(nearest);
    const blobs = join(directory, "blobs");
    // Rejects for a file at this path, too.
    if (existsSync(blobs)) await access(`${blobs}/.`, constants.W_OK | constants.X_OK);
  } catch (error) {
    const detail = `${directory} cannot be used: ${directoryReasonOf(error)}`;
    return [problem("data directory", detail, "Fix this, or set another directory with --data")];
  }
  const { bavail, blocks, bsize, ffree, files } = await statfs(nearest);
  return [
    ok("data directory", existsSync(directory) ? directory : `${directory}, which can be created`),
    checkSpace({ freeBytes: bavail * bsize, totalBytes: blocks * bsize }),
    ...checkInodes(ffree, files),
    checkClock("clock of the file system", clock),
  ];
}

/** Whether there is space for more pictures. @param space Bytes that this user may still write, and all. */
export function checkSpace({ freeBytes, totalBytes }: { freeBytes: number; totalBytes: number }): Finding {
  const share = totalBytes === 0 ? 0 : freeBytes / totalBytes;
  const detail = `${(freeBytes / 1e9).toFixed(1)} GB (${Math.round(share * 100)} %)`;
  if (freeBytes >= MIN_FREE_BYTES && share >= MIN_FREE_SHARE) return ok("free space", detail);
  return warning("free space", detail, "Free some space: a full file system rejects uploads");
}

/** Whether there are inodes for more pictures. Empty if the file system has no limit, which it reports as 0. */
export function checkInodes(free: number, total: number): Finding[] {
  if (total === 0) return [];
  const share = free / total;
  const detail = `${free} of ${total} (${Math.round(share * 100)} %)`;
  const isEnough = free >= MIN_FREE_INODES && share >= MIN_FREE_INODE_SHARE;
  return [isEnough ? ok("free inodes", detail) : warning("free inodes", detail, MORE_INODES)];
}

/** Tests a separate store, since a server may be using the data directory. @returns A reading of the file system's clock. */
async function tryStoreIn(parent: string): Promise<ClockReading> {
  const beforeMs = Date.now();
  const trial = await mkdtemp(join(parent, "outrigger-doctor-"));
  try {
    const { mtimeMs: shownMs } = await stat(trial);
    const afterMs = Date.now();
    const store = createFsBlobStore({ directory: trial });
    await tryStorage(store, "trial").finally(() => store.close());
    return { beforeMs, afterMs, shownMs };
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}

/** Whether the stores of the roles belong together. Empty if there is only one. */
export async function checkTogether(targets: StorageTargets): Promise<Finding[]> {
  const check = "stores of the roles";
  if (distinctTargets(targets).length === 1) return [];
  try {
    await inspectTargets(targets);
    return [ok(check, "all stores belong to the records")];
  } catch (error) {
    const remedy = "Mount, name or restore the right stores before anything is repaired";
    return [problem(check, reasonOf(error), remedy)];
  }
}

/** Which store holds the leases of renditions. Empty if processes do not share renditions. */
export async function checkLeases(targets: StorageTargets): Promise<Finding[]> {
  if (targets.renditions.kind === "file" || targets.renditions.kind === "memory") return [];
  try {
    const { stores, close } = await openStorage(targets);
    const { place } = await chooseLeases(stores).finally(close);
    const found = ok("leases", `in the store of the ${place}`);
    return [place === "none" ? warningOf("leases", NO_LEASES_WARNING) : found];
  } catch {
    // Another check reports a store that cannot be used.
    return [];
  }
}
