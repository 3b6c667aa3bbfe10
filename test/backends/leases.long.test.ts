import { GetObjectCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  jpeg,
  type OutriggerProcess,
  serve,
  temporaryDirectory,
  uploaded,
} from "../../packages/server/test/outrigger-process.ts";
import { type RedisServer, startRedis } from "../support/redis-server.ts";
import { type HeaderIgnoringProxy, startHeaderIgnoringProxy } from "../support/s3-header-proxy.ts";
import { type S3Access, useS3Server } from "../support/s3-server.ts";
import { fetchBytes, fetchJson } from "./fetch-bytes.ts";

let redis: RedisServer;
let s3: S3Access;
let swift: HeaderIgnoringProxy;
beforeAll(async () => {
  [redis, s3] = await Promise.all([startRedis({ appendOnly: true }), useS3Server()]);
  swift = await startHeaderIgnoringProxy(s3, ["if-match", "if-none-match"], true);
});
afterAll(async () => {
  await swift.close();
  await Promise.all([redis.close(), s3.stop()]);
});

const NO_LEASES = "each process renders for itself";

/** Renditions in a bucket of a service without conditional writes. */
async function environmentWith(records: string) {
  const bucket = await s3.createBucket();
  const { accessKeyId, secretAccessKey } = s3.credentials;
  const renditions = `s3://${bucket}/a?endpoint=${swift.endpoint}&timeoutMs=10000`;
  const env = {
    OUTRIGGER_SECRET: "the same for all processes, 32 bytes",
    OUTRIGGER_METRICS_PORT: "0",
    OUTRIGGER_STORAGE: JSON.stringify({ records, originals: records, renditions }),
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  };
  const stored = async () => {
    const { Contents = [] } = await s3.client.send(
      new ListObjectsV2Command({ Bucket: bucket, Prefix: "a/blobs/" }),
    );
    // The ledger of renditions is stored beside them.
    return Contents.map(({ Key = "" }) => Key);
  };
  return { bucket, env, stored };
}

async function end(process: OutriggerProcess): Promise<string> {
  process.child.kill("SIGTERM");
  expect(await process.exit).toBe(0);
  return process.output.stderr;
}

/** How many pictures a process has rendered. */
async function rendersOf({ output }: OutriggerProcess): Promise<number> {
  const metrics = /"url":"(http:[^"]*\/metrics)"/.exec(output.stderr)?.[1] ?? "";
  const { bytes } = await fetchBytes(metrics);
  return [...String(bytes).matchAll(/^outrigger_renders_total\{.*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}

describe("renditions in an S3 service without conditional writes", () => {
  it("two processes with records in Redis render each rendition once, with leases in Redis, and store it", async () => {
    const { env, stored, bucket } = await environmentWith(`${redis.url}?prefix=fallback&timeoutMs=10000`);
    const cwd = await temporaryDirectory();
    const nodes = [serve(cwd, [], env), serve(cwd, [], env)];
    const bases = await Promise.all(nodes.map(({ url }) => url));
    const image = await uploaded(bases[0] ?? "", await jpeg());
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        fetchBytes(`${bases[index % 2]}/api/images/${image.id}.png?resize=32x`),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await fetchJson(`${bases[1]}/readyz`)).body).toMatchObject({
      status: "ready",
      leases: "records",
    });
    const renders = await Promise.all(nodes.map(rendersOf));
    expect(renders.reduce((sum, count) => sum + count, 0)).toBe(1);
    const logs = await Promise.all(nodes.map(end));
    const [key, ...others] = await stored();
    expect(others).toEqual([]);
    const { ContentLength } = await s3.client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    // Its own 16 bytes, and the stamp of the rendition.
    expect(ContentLength).toBe((answers[0]?.bytes.length ?? 0) + 16 + 96);
    for (const log of logs) {
      expect(log).not.toContain(NO_LEASES);
    }
  });

  it("processes with records in a directory each render, and warn once at the start", async () => {
    const cwd = await temporaryDirectory();
    const { env, stored } = await environmentWith(`file:${cwd}/data`);
    const node = serve(cwd, [], env);
    const base = await node.url;
    const image = await uploaded(base, await jpeg());
    const picture = `${base}/api/images/${image.id}.png?resize=32x`;
    expect((await fetchBytes(picture)).status).toBe(200);
    expect((await fetchJson(`${base}/readyz`)).body).toMatchObject({ status: "ready", leases: "none" });
    const log = await end(node);
    expect(await stored()).toHaveLength(1);
    expect(log.match(new RegExp(NO_LEASES, "g"))).toHaveLength(1);
  });
});
