import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../support/postgres-server.ts";
import { startRedis } from "../../support/redis-server.ts";
import { type S3Access, useS3Server } from "../../support/s3-server.ts";
import { isSoak, partOf } from "../../support/soak.ts";

/** The stores that a node opens. Two: records in a database, pictures in S3. */
export interface StorageSpec {
  /** Path of a data directory. */
  data?: string;
  redis?: { url: string; prefix: string };
  postgres?: { url: string; prefix: string };
  s3?: {
    endpoint: string;
    credentials: S3Access["credentials"];
    bucket: string;
    prefix: string;
  };
}

export type StorageName = "Redis" | "S3" | "PostgreSQL and S3" | "Redis and S3" | "directory";

/** A nightly run tests each service; a soak also tests Redis and S3 together. */
export const STORAGES: readonly StorageName[] = isSoak
  ? ["Redis", "S3", "PostgreSQL and S3", "Redis and S3"]
  : partOf(["Redis", "S3", "PostgreSQL and S3"], ["Redis"]);

/** A Redis server, a PostgreSQL server and an S3 service for the tests of a file. */
export interface StorageServers {
  /** Empty storage. */
  empty(name: StorageName): StorageSpec;
  /** Redis for shared state beside the stores. */
  shared(): { url: string; prefix: string };
  close(): Promise<void>;
}

export async function startStorageServers(): Promise<StorageServers> {
  const running: { close(): Promise<void> }[] = [];
  const close = async () => {
    for (const server of running) await server.close();
  };
  try {
    const s3 = await useS3Server();
    running.push({ close: () => s3.stop() });
    const redis = await startRedis();
    running.push(redis);
    const postgres = STORAGES.some((name) => name.includes("PostgreSQL")) ? await startPostgres() : undefined;
    if (postgres !== undefined) running.push(postgres);
    const bucket = await s3.createBucket();
    const directories = await mkdtemp(join(tmpdir(), "outrigger-data-"));
    running.push({ close: () => rm(directories, { recursive: true, force: true }) });
    const { endpoint, credentials } = s3;
    return {
      shared: () => ({ url: redis.url, prefix: randomUUID() }),
      empty(name) {
        const prefix = randomUUID();
        const table = `t${randomBytes(6).toString("hex")}`;
        return {
          ...(name === "directory" ? { data: join(directories, prefix) } : {}),
          ...(name.includes("Redis") ? { redis: { url: redis.url, prefix } } : {}),
          ...(name.includes("PostgreSQL") && postgres
            ? { postgres: { url: postgres.url, prefix: table } }
            : {}),
          ...(name.includes("S3") ? { s3: { endpoint, credentials, bucket, prefix: `${prefix}/` } } : {}),
        };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
