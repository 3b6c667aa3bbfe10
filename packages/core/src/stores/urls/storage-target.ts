import type { StoreRole } from "../../contracts/observer.ts";

/** All roles, in the order in which messages name them. */
export const ROLES = ["records", "originals", "renditions"] as const satisfies readonly StoreRole[];

export interface FileTarget {
  kind: "file";
  /** Absolute. */
  directory: string;
}

export interface MemoryTarget {
  kind: "memory";
  /** @default the default of the store */
  maxBytes?: number | undefined;
}

export interface RedisTarget {
  kind: "redis";
  /**
   * One address or the root nodes of a cluster, without parameters; or a Sentinel URL with the parameters of the adapter.
   * May hold passwords.
   */
  url: string | string[];
  prefix?: string | undefined;
  timeoutMs?: number | undefined;
  /** Only for a target that stores only renditions. */
  ttlMs?: number | undefined;
}

export interface S3Target {
  kind: "s3";
  bucket: string;
  /** Ends with a slash. */
  prefix?: string | undefined;
  endpoint?: string | undefined;
  region?: string | undefined;
  forcePathStyle?: boolean | undefined;
  timeoutMs?: number | undefined;
}

/** Only for records. */
export interface PostgresTarget {
  kind: "postgres";
  /** With the parameters of the driver. May hold a password. */
  url: string;
  prefix?: string | undefined;
  timeoutMs?: number | undefined;
  maxConnections?: number | undefined;
}

/** A parsed storage URL. */
export type StorageTarget = FileTarget | MemoryTarget | PostgresTarget | RedisTarget | S3Target;

/** The target of each role. */
export type StorageTargets = Record<StoreRole, StorageTarget>;

/** A target with all roles that share it. */
export interface SharedTarget {
  target: StorageTarget;
  roles: StoreRole[];
}

/** Each distinct target once, with its roles. */
export function distinctTargets(targets: StorageTargets): SharedTarget[] {
  const found = new Map<string, SharedTarget>();
  for (const role of ROLES) {
    const target = targets[role];
    // Parsing always inserts the keys of a kind in the same order.
    const identity = JSON.stringify(target);
    const known = found.get(identity);
    if (known === undefined) found.set(identity, { target, roles: [role] });
    else known.roles.push(role);
  }
  return [...found.values()];
}

/** Whether processes on other machines can also use the target. */
export function isShared({ kind }: StorageTarget): boolean {
  return kind !== "file" && kind !== "memory";
}
