import type { StoreRole } from "@outrigger/core";

/** The roles, in the order in which they are named. */
export const ROLES = ["records", "originals", "renditions"] as const satisfies readonly StoreRole[];

export interface FileTarget {
  kind: "file";
  /** Absolute. */
  directory: string;
}

export interface MemoryTarget {
  kind: "memory";
  /** @default what the store has room for by itself */
  maxBytes?: number;
}

export interface RedisTarget {
  kind: "redis";
  /**
   * One address, or the root nodes of a cluster, without parameters; or the URL of Sentinels with those that the adapter reads.
   * They may hold passwords.
   */
  url: string | string[];
  prefix?: string;
  timeoutMs?: number;
  /** Only where nothing but renditions is kept. */
  ttlMs?: number;
}

export interface S3Target {
  kind: "s3";
  bucket: string;
  /** Ends with a slash. */
  prefix?: string;
  endpoint?: string;
  region?: string;
  forcePathStyle?: boolean;
  timeoutMs?: number;
}

/** What a URL of the configuration names. */
export type StorageTarget = FileTarget | MemoryTarget | RedisTarget | S3Target;

/** What keeps what. */
export type StorageTargets = Record<StoreRole, StorageTarget>;

/** Targets that are the same, each with the roles that it has. */
export interface SharedTarget {
  target: StorageTarget;
  roles: StoreRole[];
}

/** Each target once. */
export function distinctTargets(targets: StorageTargets): SharedTarget[] {
  const found = new Map<string, SharedTarget>();
  for (const role of ROLES) {
    const target = targets[role];
    // Parsed from text, the keys of a kind come in the same order every time.
    const identity = JSON.stringify(target);
    const known = found.get(identity);
    if (known === undefined) found.set(identity, { target, roles: [role] });
    else known.roles.push(role);
  }
  return [...found.values()];
}

/** Whether processes on other machines can use it, too. */
export function isShared({ kind }: StorageTarget): boolean {
  return kind === "redis" || kind === "s3";
}
