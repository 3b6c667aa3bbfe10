import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { access, constants, mkdtemp, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type BlobStore, createFsBlobStore, createImageAdmin } from "@outrigger/core";
import { chooseLeases, NO_LEASES_WARNING } from "@outrigger/core/images";
import { directoryReasonOf } from "../../cli/error-reason.ts";
import { StartError } from "../../config/config-error.ts";
import { describeTarget } from "../../config/targets/describe-storage.ts";
import type { SharedTarget, StorageTarget, StorageTargets } from "../../config/targets/storage-target.ts";
import { openStorage, openTarget } from "../../storage/open-storage.ts";
import { whyUnreachable } from "../../storage/storage-error.ts";
import { memoryWarning } from "../../storage/storage-notices.ts";
import { tryStorage } from "../../storage/try-storage.ts";
import { type ClockReading, checkClock } from "./check-clock.ts";
import { type Finding, ok, problem, warning, warningOf } from "./finding.ts";

/** Enough to meet damage that is common, few enough not to be waited for. */
const SAMPLE = 50;
const MIN_FREE_BYTES = 1e9;
const MIN_FREE_SHARE = 0.05;
/** A small image takes as many inodes as a large one: a volume of small images runs out of them first. */
const MIN_FREE_INODES = 100_000;
const MIN_FREE_INODE_SHARE = 0.1;
const LEASES = "leases";

/** Whether a store of the configuration can be used, and keeps its content. The trial data is deleted. */
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

/** Room on a file system. */
export interface Space {
  /** What this user may still write. */
  freeBytes: number;
  totalBytes: number;
}

/** Whether a data directory can be used, or made, and has room. Nothing in it is changed. @param directory Absolute. */
export async function checkStorage(directory: string): Promise<Finding[]> {
  const place = placeForTrial(directory);
  let clock: ClockReading;
  try {
    clock = await tryStoreIn(place);
    await requireWritable(join(directory, "blobs"));
  } catch (error) {
    const detail = `${directory} cannot be used: ${directoryReasonOf(error)}`;
    return [problem("data directory", detail, "Mend that, or name another by --data")];
  }
  const { bavail, blocks, bsize, ffree, files } = await statfs(place);
  return [
    ok("data directory", existsSync(directory) ? directory : `${directory}, which can be made`),
    checkSpace({ freeBytes: bavail * bsize, totalBytes: blocks * bsize }),
    ...checkInodes(ffree, files),
    checkClock("clock of the file system", [clock]),
  ];
}

/** Whether there is room for more pictures. */
export function checkSpace({ freeBytes, totalBytes }: Space): Finding {
  const share = totalBytes === 0 ? 0 : freeBytes / totalBytes;
  const detail = `${(freeBytes / 1e9).toFixed(1)} GB (${Math.round(share * 100)} %)`;
  if (freeBytes >= MIN_FREE_BYTES && share >= MIN_FREE_SHARE) return ok("free space", detail);
  return warning("free space", detail, "Make room: uploads are refused when nothing is left");
}

/** Whether there are inodes for more pictures. Nothing where a file system has no limit, and reports 0. */
export function checkInodes(free: number, total: number): Finding[] {
  if (total === 0) return [];
  const share = free / total;
  const detail = `${free} of ${total} (${Math.round(share * 100)} %)`;
  if (free >= MIN_FREE_INODES && share >= MIN_FREE_INODE_SHARE) return [ok("free inodes", detail)];
  const remedy =
    "Move the directory to a file system with more: mkfs.ext4 -i 4096 (bytes per inode) or -N (their number), or XFS, which makes them as needed";
  return [warning("free inodes", detail, remedy)];
}

/**
 * A place for a trial directory on the file system of the data: among the store's temporary files, which the store sweeps if
 * this process is killed; without a store, where it would be made.
 */
function placeForTrial(directory: string): string {
  let place = join(directory, "tmp");
  while (!existsSync(place)) place = dirname(place);
  return place;
}

/** A store of its own, for the one at the data directory may be at work. @returns What time it is where the files are. */
async function tryStoreIn(place: string): Promise<ClockReading> {
  const beforeMs = Date.now();
  const trial = await mkdtemp(join(place, "outrigger-doctor-"));
  try {
    const { mtimeMs } = await stat(trial);
    const afterMs = Date.now();
    const store = createFsBlobStore({ directory: trial });
    await tryStorage(store, "trial");
    await store.close();
    return { beforeMs, afterMs, shownMs: mtimeMs };
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}

/** Rejects where there is a directory into which this user may not write, or something else in its place. */
async function requireWritable(directory: string): Promise<void> {
  if (existsSync(directory)) await access(`${directory}/.`, constants.W_OK | constants.X_OK);
}

/** Which storage keeps the leases of renditions. Nothing for renditions that processes do not share. */
export async function checkLeases(targets: StorageTargets): Promise<Finding[]> {
  if (targets.renditions.kind === "file" || targets.renditions.kind === "memory") return [];
  try {
    const { stores, close } = await openStorage(targets);
    try {
      const { place } = await chooseLeases(stores);
      return [
        place === "none"
          ? warningOf(LEASES, NO_LEASES_WARNING)
          : ok(LEASES, `in the storage of the ${place}`),
      ];
    } finally {
      await close();
    }
  } catch {
    // A storage that cannot be used is a finding of its own.
    return [];
  }
}
