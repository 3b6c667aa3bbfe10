import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { StorageTarget } from "@outrigger/core/stores";
import { systemCode } from "@outrigger/core/values";
import { fileReasonOf } from "../../cli/error-reason.ts";
import { ENOUGH_OPEN_FILES, openFilesLimit, RAISE_OPEN_FILES } from "../../cli/open-files.ts";
import { readOwnPackage } from "../../cli/own-package.ts";
import { forgedHostRisk, type ServerSettings } from "../../config/settings.ts";
import { describeTarget } from "../../config/targets/describe-storage.ts";
import { SET_SECRET } from "../../storage/choose-secret.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const NOTICEABLE_MS = 5_000;
const WRONG_MS = 60_000;
/** The length that the store creates and requires. */
const SECRET_BYTES = 32;
/** The default idle timeout of nginx, HAProxy and cloud load balancers. */
const PROXY_IDLE_MS = 60_000;
/** A line of 512 kbit/s. */
const SLOW_LINE_BYTES_PER_SECOND = 64 * 1024;

/** Whether this version of Node is supported. @param version `major.minor.patch` */
export function checkNode(version: string = process.versions.node): Finding {
  const needed = readOwnPackage().engines.node.replace(">=", "");
  const detail = `${version} (${needed} or newer is needed)`;
  const isOld = version.localeCompare(needed, "en", { numeric: true }) < 0;
  return problem("Node.js", isOld && detail, "Install a newer version", detail);
}

/** Whether the limit of open files is high enough for a server. Empty if the limit is unknown. */
export function checkOpenFiles(limit: number | null = openFilesLimit()): Finding[] {
  if (limit === null) return [];
  const detail = limit === Number.POSITIVE_INFINITY ? "unlimited" : `at most ${limit}`;
  return [warning("open files", limit < ENOUGH_OPEN_FILES && detail, RAISE_OPEN_FILES, detail)];
}

/** Whether another clock agrees with this machine's, since images expire by the clock. NaN: it showed no time. */
export function checkClock(check: string, aheadMs: number): Finding {
  const size = Math.abs(aheadMs);
  const detail = `${(size / 1000).toFixed(0)} s ${aheadMs > 0 ? "ahead of" : "behind"} this machine's`;
  const remedy = "Synchronize both clocks by NTP (timedatectl set-ntp true): images expire by the clock";
  if (size > WRONG_MS) return problem(check, detail, remedy);
  return warning(check, size > NOTICEABLE_MS && detail, remedy, "equal to this machine's");
}

/**
 * Whether the secret of PINs exists, is complete, and cannot be read by other users.
 * @param records The store of the records; a directory also keeps the secret.
 * @param isConfigured Whether the configuration sets a secret, which takes precedence.
 */
export async function checkSecret(records: StorageTarget, isConfigured: boolean): Promise<Finding> {
  if (isConfigured) return ok("secret", "set in the configuration");
  if (records.kind === "memory") return ok("secret", "created at each start");
  if (records.kind !== "file")
    return problem("secret", `none is set, and ${describeTarget(records)} cannot keep one`, SET_SECRET);
  const path = join(records.directory, "secret");
  try {
    const { mode } = await stat(path);
    const restrict = `Restrict it to its owner: chmod 600 ${path}`;
    if ((mode & 0o077) !== 0) return problem("secret", `${path} can be read by other users`, restrict);
    if ((await readFile(path)).length >= SECRET_BYTES) return ok("secret", path);
    return problem("secret", `${path} is too short`, "Restore it from a backup: another changes all PINs");
  } catch (error) {
    const isMissing = ["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "");
    if (isMissing) return ok("secret", "created at the first start");
    const detail = `${path} cannot be read: ${fileReasonOf(error)}`;
    return problem("secret", detail, "Make the server's user its owner");
  }
}

type MountSettings = Pick<ServerSettings, "http" | "images" | "trustProxy" | "publicUrl">;

/** Whether the server's timeouts fit its clients and proxies. */
export function checkTimeOuts({ http, images, trustProxy }: MountSettings): Finding {
  const { keepAliveMs, idleMs, requestTimeoutMs } = http;
  const bytesPerSecond = images.maxUploadBytes / (requestTimeoutMs / 1000);
  const short: string[] = [];
  if (trustProxy !== false && keepAliveMs <= PROXY_IDLE_MS) short.push("http.keepAliveMs");
  if (idleMs <= images.uploadIdleMs) short.push("http.idleMs");
  if (bytesPerSecond > SLOW_LINE_BYTES_PER_SECOND) short.push("http.requestTimeoutMs");
  const fault = short.length > 0 && `too short for proxies or slow uploads: ${short.join(", ")}`;
  return warning("time-outs", fault, "Keep the defaults: see docs/options.md");
}

/** Whether the server itself decides the host of the addresses in replies. */
export function checkAddresses(settings: MountSettings): Finding {
  const forgery = forgedHostRisk(settings);
  return warning("addresses", forgery?.risk ?? false, forgery?.remedy ?? "");
}

/** Whether any client can request any size without a cache in front. */
export function checkSizes({ images, trustProxy }: MountSettings): Finding {
  return warning(
    "sizes",
    images.sizes === "any" &&
      trustProxy === false &&
      "any client can request any size, and no trusted proxy is in front",
    'Set images.sizes to "steps" or "signed", or put a cache in front and set trustProxy',
  );
}
