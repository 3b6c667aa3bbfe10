import { randomUUID } from "node:crypto";
import { Resolver } from "node:dns/promises";
import { existsSync, type StatsFs } from "node:fs";
import { access, constants, mkdtemp, rm, rmdir, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  createFsBlobStore,
  createImageAdmin,
  type ImageAdmin,
  type UndeliveredEvents,
} from "@outrigger/core";
import { chooseLeases, NO_LEASES_WARNING } from "@outrigger/core/images";
import {
  type BlobStore,
  distinctTargets,
  type SharedTarget,
  type StorageTargets,
} from "@outrigger/core/stores";
import { accessReason } from "@outrigger/core/values";
import { directoryReasonOf, reasonOf, serviceReasonOf } from "../../cli/error-reason.ts";
import { loadPart } from "../../cli/parts.ts";
import { StartError } from "../../config/config-error.ts";
import type { LookupSettings } from "../../config/lookup-settings.ts";
import { type DatabaseTarget, databaseUrl, describeDatabase } from "../../config/targets/database-target.ts";
import { describeTarget } from "../../config/targets/describe-storage.ts";
import { inspectTargets } from "../../storage/inspect-targets.ts";
import { openStorage, openTarget } from "../../storage/open-storage.ts";
import { whyUnreachable } from "../../storage/storage-error.ts";
import { tryStorage } from "../../storage/try-storage.ts";
import { checkClock } from "./check-machine.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** Enough records to detect common damage, few enough to be read quickly. */
const SAMPLE = 50;
/** Reasons that a finding names at most. */
const NAMED = 3;
const DNS_MS = 3000;
/** An hour: then several attempts have failed. */
const LATE_EVENT_MS = 3_600_000;
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
      const found = (await warnings()).map((detail) => ({ check, status: "warning", detail }) as const);
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

/** Reads a few records. @returns A warning if some are damaged, and a problem if some cannot be read. */
async function checkRecords(records: BlobStore): Promise<Finding[]> {
  const found: Finding[] = [];
  const damaged: string[] = [];
  const reasons = new Set<string>();
  const fail = (error: unknown) => void reasons.add(reasonOf(error));
  const onError = (error: unknown) => void (accessReason(error) !== undefined && fail(error));
  const admin = createImageAdmin({ storage: records, onError });
  let read = 0;
  const sample = async () => {
    for await (const { id, state } of admin.list()) {
      if (state === "damaged") damaged.push(id);
      if (++read === SAMPLE) break;
    }
  };
  // A sample that ends early does not tell what its page lacks.
  await records.list("", { onUnreadable: (_path, error) => fail(error) }).catch(fail);
  // It fails at its end for what was named before.
  await sample().catch((error) => reasons.size === 0 && fail(error));
  const undelivered = admin.undelivered().then((events) => found.push(...eventFindings(events)));
  await undelivered.catch(fail);
  await reportFindings(admin).then((late) => found.push(...late), fail);
  await admin.close();
  if (damaged.length > 0) {
    const detail = `${damaged.length} of the ${read} records read are damaged: ${damaged.slice(0, 3).join(", ")}`;
    found.push(warning("records", detail, "Run outrigger images verify to find all damaged records"));
  }
  if (reasons.size === 0) return found;
  const more = reasons.size > NAMED ? `; and ${reasons.size - NAMED} more` : "";
  const detail = `cannot be read: ${[...reasons].slice(0, NAMED).join("; ")}${more}`;
  return [...found, problem("records", detail, "Then run outrigger images verify")];
}

/** Warns of reports that are due and not decided. */
async function reportFindings({ reports }: ImageAdmin): Promise<Finding[]> {
  let overdue = 0;
  for await (const { dueAt } of reports.list({ state: "open" })) {
    if (dueAt > Date.now() || overdue === SAMPLE) break;
    overdue++;
  }
  if (overdue === 0) return [];
  const remedy =
    "List them by outrigger images reports --state open, and decide each by withhold, rm or keep";
  return [warning("reports", `${overdue} reported images should be decided by now`, remedy)];
}

/** Warns of events that were given up or are late. Empty if there are none. */
function eventFindings({ waiting, oldestAt, dead }: UndeliveredEvents): Finding[] {
  const isLate = oldestAt !== null && Date.now() - oldestAt > LATE_EVENT_MS;
  const faults = [
    ...(dead > 0 ? [`events of ${dead} images were given up in the last 30 days`] : []),
    ...(isLate
      ? [`events of ${waiting} images wait, the oldest since ${new Date(oldestAt).toISOString()}`]
      : []),
  ];
  if (faults.length === 0) return [];
  const remedy = `Find "webhook failed" in the log, and repair the receiver or remove it from images.webhooks`;
  return [warning("events", faults.join(", and "), remedy)];
}

/** Whether a data directory can be used or created and has free space. Changes nothing in it. @param directory Absolute path. */
export async function checkStorage(directory: string): Promise<Finding[]> {
  // In an existing store the directory of temporary files, which the store sweeps if this process is killed.
  const nearest = existingParentOf(join(directory, "tmp", "doctor"));
  let aheadMs: number;
  try {
    aheadMs = await tryStoreIn(nearest);
    const blobs = join(directory, "blobs");
    // Rejects for a file at this path, too.
    if (existsSync(blobs)) await access(`${blobs}/.`, constants.W_OK | constants.X_OK);
  } catch (error) {
    const detail = `${directory} cannot be used: ${directoryReasonOf(error)}`;
    return [problem("data directory", detail, "Fix this, or set another directory with --data")];
  }
  return [
    ok("data directory", existsSync(directory) ? directory : `${directory}, which can be created`),
    ...checkSpace(await statfs(nearest)),
    checkClock("clock of the file system", aheadMs),
  ];
}

/** Whether there is space for more pictures. Small pictures take as many inodes as large ones. No limit is reported as 0 inodes. */
export function checkSpace({ bavail, blocks, bsize, ffree, files }: StatsFs): Finding[] {
  const rate = (
    check: string,
    free: number,
    min: number,
    share: number,
    minShare: number,
    remedy: string,
  ) => {
    const detail = `${Math.floor(share * 100)} % free`;
    return warning(check, (free < min || share < minShare) && detail, remedy, detail);
  };
  const space = "Free some space: a full file system rejects uploads";
  const inodes = "Move the directory to XFS, or to ext4 made with mkfs.ext4 -i 4096";
  return [
    rate("free space", bavail * bsize, 1e9, blocks === 0 ? 0 : bavail / blocks, 0.05, space),
    ...(files === 0 ? [] : [rate("free inodes", ffree, 100_000, ffree / files, 0.1, inodes)]),
  ];
}

/** Tests a separate store, since a server may be using the data directory. @returns Milliseconds by which its clock is ahead. */
async function tryStoreIn(parent: string): Promise<number> {
  const trial = await mkdtemp(join(parent, "outrigger-doctor-"));
  try {
    const aheadMs = (await stat(trial)).mtimeMs - Date.now();
    const store = createFsBlobStore({ directory: trial });
    await tryStorage(store, "trial").finally(() => store.close());
    return aheadMs;
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}

/** The closest directory above a path. */
function existingParentOf(path: string): string {
  const parent = dirname(path);
  return existsSync(parent) ? parent : existingParentOf(parent);
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
    if (place !== "none") return [ok("leases", `in the store of the ${place}`)];
    return [{ check: "leases", status: "warning", detail: NO_LEASES_WARNING }];
  } catch {
    // Another check reports a store that cannot be used.
    return [];
  }
}

/** Whether the lookup's database can be used or created, and the name sent to mail servers resolves. Sends only DNS queries. */
export async function checkLookup({ database, smtp, dnsServers = [] }: LookupSettings): Promise<Finding[]> {
  const place = describeDatabase(database);
  const fault = await tryDatabase(database);
  const remedy = "Fix this, or set another database in lookup.database";
  const found = problem("lookup database", fault && `${place} cannot be used: ${fault}`, remedy, place);
  return [found, ...(smtp === undefined ? [] : [await checkHelo(smtp.helo, dnsServers)])];
}

/** Why the database cannot be used, as a clause; `false` if it can, or can be created. */
async function tryDatabase(target: DatabaseTarget): Promise<string | false> {
  try {
    if (target.kind === "file" && !existsSync(target.path)) {
      // Permissions do not tell: in /proc, no user can create a file.
      await rmdir(await mkdtemp(join(existingParentOf(target.path), ".outrigger-doctor-")));
      return false;
    }
    const { openDatabase } = await loadPart("lookup", () => import("@outrigger/sql"));
    const database = openDatabase({ url: databaseUrl(target) });
    // The start of a server makes missing tables.
    const opening = database.isMade().then((isMade) => (isMade ? database.ready() : undefined));
    await opening.finally(() => database.close());
    if (target.kind === "file") await access(target.path, constants.W_OK);
    return false;
  } catch (error) {
    const isMissing = target.kind === "file" && !existsSync(target.path);
    return isMissing ? directoryReasonOf(error) : serviceReasonOf(error);
  }
}

/** The name that mail servers see. Outgoing connections are not tried. */
async function checkHelo(helo: string, dnsServers: readonly string[]): Promise<Finding> {
  const resolver = new Resolver({ timeout: DNS_MS, tries: 1 });
  if (dnsServers.length > 0) resolver.setServers(dnsServers);
  const answers = await Promise.allSettled([resolver.resolve4(helo), resolver.resolve6(helo)]);
  const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  const isUnknown =
    addresses.length === 0 && "lookup.smtp.helo does not resolve, so mail servers distrust it";
  const remedy = "Use a name that resolves to this machine's address and back";
  const untried = "outgoing connections to port 25 were not tested; many providers block them";
  return warning("mail probing", isUnknown, remedy, `${helo} is ${addresses.join(" and ")}; ${untried}`);
}
