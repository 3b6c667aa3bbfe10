import { randomUUID } from "node:crypto";
import { startRedis } from "../../support/redis-server.ts";
import { type S3Server, startS3Server } from "../../support/s3-server.ts";
import { isSoak } from "../../support/soak.ts";

/** The stores that a node opens. Both: records in Redis, pictures in S3. */
export interface StorageSpec {
  redis?: { url: string; prefix: string };
  s3?: {
    endpoint: string;
    credentials: S3Server["credentials"];
    bucket: string;
    prefix: string;
  };
}

export type StorageName = "Redis" | "S3" | "Redis and S3";

/** Every run tests each alone; a soak also tests both together. */
export const STORAGES: readonly StorageName[] = isSoak ? ["Redis", "S3", "Redis and S3"] : ["Redis", "S3"];

/** A Redis server and an S3 service for the tests of a file. */
export interface StorageServers {
  /** Empty storage. */
  empty(name: StorageName): StorageSpec;
  /** Redis for shared state beside the stores. */
  shared(): { url: string; prefix: string };
  close(): Promise<void>;
}

export async function startStorageServers(): Promise<StorageServers> {
  const s3 = await startS3Server();
  const redis = await startRedis().catch(async (error) => {
    await s3.stop();
    throw error;
  });
  const bucket = await s3.createBucket();
  const { endpoint, credentials } = s3;
  return {
    shared: () => ({ url: redis.url, prefix: randomUUID() }),
    empty(name) {
      const prefix = randomUUID();
      return {
        ...(name === "S3" ? {} : { redis: { url: redis.url, prefix } }),
        ...(name === "Redis" ? {} : { s3: { endpoint, credentials, bucket, prefix: `${prefix}/` } }),
      };
    },
    async close() {
      await redis.close();
      await s3.stop();
    },
  };
}
