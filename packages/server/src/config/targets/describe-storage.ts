import type { StoreRole } from "@outrigger/core";
import {
  distinctTargets,
  isSentinelUrl,
  type RedisTarget,
  type StorageTarget,
  type StorageTargets,
} from "@outrigger/core/stores";

/** A target for logs and messages, as a URL without users and passwords. */
export function describeTarget(target: StorageTarget): string {
  switch (target.kind) {
    case "file":
      return `file:${target.directory}`;
    case "memory":
      return "memory:";
    case "postgres": {
      const { host, pathname } = new URL(target.url);
      const address = `postgres://${host}${pathname}`;
      return target.prefix === undefined ? address : `${address}?prefix=${target.prefix}`;
    }
    case "redis": {
      if (typeof target.url === "string" && isSentinelUrl(target.url)) return describeSentinels(target);
      const addresses = [target.url].flat().map(withoutUser).join(",");
      return target.prefix === undefined ? addresses : `${addresses}?prefix=${target.prefix}`;
    }
    case "s3": {
      const { bucket, prefix = "", endpoint } = target;
      const address = `s3://${bucket}/${prefix}`;
      return endpoint === undefined ? address : `${address}?endpoint=${endpoint}`;
    }
  }
}

/** The targets of all roles as {@link describeTarget} writes them: one text if all roles share a target. */
export function describeTargets(targets: StorageTargets): string | Record<StoreRole, string> {
  if (distinctTargets(targets).length === 1) return describeTarget(targets.records);
  return {
    records: describeTarget(targets.records),
    originals: describeTarget(targets.originals),
    renditions: describeTarget(targets.renditions),
  };
}

/**
 * A target as the subject of a sentence.
 * @param roles The roles it stores; named unless it stores all.
 */
export function subjectOf(target: StorageTarget, roles: readonly StoreRole[]): string {
  const what = roles.length === 3 ? "" : ` of ${roles.join(" and ")},`;
  if (target.kind === "file" && what === "") return `The data directory ${target.directory}`;
  return `The storage${what} ${describeTarget(target)}${what === "" ? "" : ","}`;
}

/** The platform cannot parse a URL with several hosts. */
function describeSentinels({ url, prefix }: RedisTarget): string {
  const [address = "", query = ""] = String(url).split("?");
  const db = new URLSearchParams(query).get("db");
  const shown = [db === null ? [] : `db=${db}`, prefix === undefined ? [] : `prefix=${prefix}`].flat();
  const place = address.replace(/\/\/[^@]*@/, "//");
  return shown.length === 0 ? place : `${place}?${shown.join("&")}`;
}

function withoutUser(address: string): string {
  const url = new URL(address);
  url.username = "";
  url.password = "";
  return url.href;
}
