import type { RedisTarget } from "./storage-target.ts";
import { readFlag, readParameters, readWhole } from "./url-parameters.ts";

const FORM =
  "must be redis://[user:password@]host[:port][/database][?prefix=…&timeoutMs=…] or rediss://…, with special characters in user and password percent-encoded";

/** Ten years. */
const MAX_TTL_MS = 315_360_000_000;

/**
 * Reads `redis://…` or `rediss://…`: one address, or several of a cluster, separated by commas.
 * @throws TypeError saying what it must be, without any part of it.
 */
export function parseRedisUrl(text: string): RedisTarget {
  const addresses = text.split(/,(?=rediss?:\/\/)/i).map(readAddress);
  const last = addresses.at(-1);
  if (last === undefined) throw new TypeError(FORM);
  if (addresses.some((address) => address !== last && address.search !== "")) {
    throw new TypeError("must have its parameters behind the last address");
  }
  const { cluster, prefix, timeoutMs, ttlMs } = readParameters(last, [
    "prefix",
    "timeoutMs",
    "cluster",
    "ttlMs",
  ]);
  last.search = "";
  const isCluster = readFlag("cluster", cluster) ?? addresses.length > 1;
  if (addresses.length > 1) checkRootNodes(addresses, isCluster);
  if (isCluster && addresses.some(({ pathname }) => !/^\/?0?$/.test(pathname))) {
    throw new TypeError("must not name a database of a cluster: it has none");
  }
  if (prefix !== undefined && !/^[A-Za-z0-9_.:-]{1,100}$/.test(prefix)) {
    throw new TypeError("must have 1 to 100 letters, digits or characters of _.:- as prefix");
  }
  const patience = readWhole("timeoutMs", timeoutMs, 50, 60_000);
  const lifetime = readWhole("ttlMs", ttlMs, 1000, MAX_TTL_MS);
  return {
    kind: "redis",
    url: isCluster ? addresses.map(({ href }) => href) : last.href,
    ...(prefix === undefined ? {} : { prefix }),
    ...(patience === undefined ? {} : { timeoutMs: patience }),
    ...(lifetime === undefined ? {} : { ttlMs: lifetime }),
  };
}

function readAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isWell =
    url !== null &&
    url.hostname !== "" &&
    url.hash === "" &&
    /^(?:\/\d{0,5})?$/.test(url.pathname) &&
    isEncoded(url.username) &&
    isEncoded(url.password);
  if (!isWell) throw new TypeError(FORM);
  return url;
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    // A percent sign that was not encoded itself.
    return false;
  }
}

function checkRootNodes([first, ...others]: URL[], isCluster: boolean): void {
  if (!isCluster) throw new TypeError("must be one address where cluster is false");
  for (const { protocol, username, password } of others) {
    if (protocol !== first?.protocol)
      throw new TypeError("must be redis: or rediss: for all addresses alike");
    const isOfFirst = username === first.username && password === first.password;
    if (!isOfFirst && username + password !== "") {
      throw new TypeError("must have the user in its first address: a cluster has one");
    }
  }
}
