import { ListObjectsV2Command, PutBucketVersioningCommand, type S3Client } from "@aws-sdk/client-s3";
import { leaseStoreContract } from "@outrigger/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../../test/support/listen.ts";
import { type HeaderIgnoringProxy, startHeaderIgnoringProxy } from "../../../test/support/s3-header-proxy.ts";
import { type S3Access, useS3Server } from "../../../test/support/s3-server.ts";
import { clientOf } from "../test/s3-client.ts";
import { createS3BlobStore, type S3BlobStore } from "./s3-blob-store.ts";
import { LeaseSightings } from "./s3-leases.ts";

const HOUR_MS = 3_600_000;

let server: S3Access;
let bucket: string;
beforeAll(async () => {
  server = await useS3Server();
  bucket = await server.createBucket();
});
afterAll(() => server.stop());

describe("a lease in S3", () => {
  /** A store and the HTTP methods of the requests that it sends. */
  function countingStore(prefix: string): { store: S3BlobStore; client: S3Client; sent: string[] } {
    const sent: string[] = [];
    const client = clientOf(server, "finalizeRequest", ({ method }) => sent.push(method));
    return { store: createS3BlobStore({ bucket, client, prefix, timeoutMs: 10_000 }), client, sent };
  }

  test("costs the number of requests that the README states", async () => {
    const { store, client, sent } = countingStore("counted/");
    await store.capabilities();
    const costOf = async (work: Promise<unknown>) => {
      sent.length = 0;
      await work;
      return sent.join(" ");
    };
    const taking = store.acquireLease("a/b", HOUR_MS);
    expect(await costOf(taking)).toBe("PUT");
    const proof = (await taking) ?? "";
    expect(await costOf(store.renewLease("a/b", proof, HOUR_MS))).toBe("PUT");
    expect(await costOf(store.renewLease("a/b", "x", HOUR_MS))).toBe("GET");
    // A store of another process, which has no record of the lease.
    const other = countingStore("counted/");
    await other.store.capabilities();
    other.sent.length = 0;
    expect(await other.store.acquireLease("a/b", HOUR_MS)).toBeNull();
    expect(other.sent.splice(0)).toEqual(["PUT", "GET"]);
    expect(await other.store.acquireLease("a/b", HOUR_MS)).toBeNull();
    expect(other.sent.splice(0)).toEqual(["GET"]);
    expect(await other.store.renewLease("a/b", proof, HOUR_MS)).toBe(true);
    expect(other.sent.splice(0)).toEqual(["GET", "PUT"]);
    // The object of the first store was replaced; the new one has the same proof.
    expect(await costOf(store.renewLease("a/b", proof, HOUR_MS))).toBe("PUT GET PUT");
    expect(await costOf(store.releaseLease("a/b", "x"))).toBe("GET");
    expect(await costOf(store.releaseLease("a/b", proof))).toBe("DELETE");
    // A lease that may have expired is read before it is deleted.
    const short = (await store.acquireLease("a/b", 100)) ?? "";
    expect(await costOf(store.releaseLease("a/b", short))).toBe("GET DELETE");
    await other.store.close();
    other.client.destroy();
    const { KeyCount } = await server.client.send(
      new ListObjectsV2Command({ Bucket: bucket, Prefix: "counted/" }),
    );
    expect(KeyCount).toBe(0);
    await store.close();
    client.destroy();
  });
});

describe("a service without conditional writes", () => {
  let proxy: HeaderIgnoringProxy;
  beforeAll(async () => {
    proxy = await startHeaderIgnoringProxy(server, ["if-match", "if-none-match"], true);
  });
  afterAll(() => proxy.close());
  const create = async () =>
    createS3BlobStore({
      bucket,
      endpoint: proxy.endpoint,
      credentials: server.credentials,
      prefix: "swift/",
      timeoutMs: 10_000,
    });
  leaseStoreContract(test, create, { openAnother: create, isSupported: false });
});

test("on Ceph 16, a bucket with versions is refused with a message about versions, and one without is accepted", async () => {
  const versioned = await server.createBucket();
  const VersioningConfiguration = { Status: "Enabled" } as const;
  await server.client.send(new PutBucketVersioningCommand({ Bucket: versioned, VersioningConfiguration }));
  const { endpoint, credentials } = server;
  const open = (name: string) =>
    createS3BlobStore({ bucket: name, endpoint, credentials, prefix: "versions/", timeoutMs: 10_000 });
  const store = open(versioned);
  expect(await store.capabilities()).toMatchObject({ conditionalCreate: false, versioned: true });
  await expect(store.put("a", Buffer.from("1"), { ifRevision: null })).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringMatching(
      /in a bucket with versions \(If-None-Match\).* new bucket without versions\.$/,
    ),
  });
  expect(await store.leasesSupported()).toBe(false);
  await store.close();
  const other = open(bucket);
  expect(await other.capabilities()).toEqual({ conditionalCreate: true, compareAndSet: true });
  await other.close();
});

test("leasesSupported rejects if the service is unreachable instead of returning false", async () => {
  const store = createS3BlobStore({
    bucket,
    endpoint: `http://127.0.0.1:${await freePort()}`,
    credentials: server.credentials,
  });
  await expect(store.leasesSupported()).rejects.toMatchObject({ code: "store_unavailable" });
  await store.close();
});

describe("an S3 service", () => {
  let proxy: HeaderIgnoringProxy;
  let store: S3BlobStore;
  async function open(headers: string[]): Promise<void> {
    proxy = await startHeaderIgnoringProxy(server, headers);
    const { endpoint } = proxy;
    const { credentials } = server;
    store = createS3BlobStore({ bucket, endpoint, credentials, prefix: "incapable/", timeoutMs: 10_000 });
  }
  afterEach(async () => {
    await store.close();
    await proxy.close();
  });

  test("that ignores all conditions is refused records, originals and leases, each with a remedy", async () => {
    await open(["if-match", "if-none-match"]);
    expect(await store.capabilities()).toEqual({ conditionalCreate: false, compareAndSet: false });
    const { revision } = await store.put("a", Buffer.from("1"));
    const refusals = [
      [() => store.put("b", Buffer.from("2"), { ifRevision: null }), "Keep only renditions in it"],
      [() => store.put("a", Buffer.from("2"), { ifRevision: revision }), "Keep the records in another store"],
      [() => store.acquireLease("a", HOUR_MS), "Keep the leases in another store"],
    ] as const;
    for (const [work, remedy] of refusals) {
      await expect(work()).rejects.toMatchObject({
        code: "store_unavailable",
        message: expect.stringContaining(remedy),
      });
    }
    expect(String((await store.get("a"))?.body)).toBe("1");
    expect(await store.get("b")).toBeNull();
  });

  test("that supports If-None-Match but not If-Match is refused leases", async () => {
    await open(["if-match"]);
    expect(await store.capabilities()).toEqual({ conditionalCreate: true, compareAndSet: false });
    await store.put("original", Buffer.from("1"), { ifRevision: null });
    await expect(store.put("original", Buffer.from("2"), { ifRevision: null })).rejects.toMatchObject({
      code: "conflict",
    });
    await expect(store.acquireLease("a", HOUR_MS)).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining("(If-Match). Keep the leases in another store"),
    });
  });
});

test("sightings of leases are bounded to 10,000 keys, and the least recently requested is evicted first", () => {
  const sightings = new LeaseSightings();
  const laterMs = performance.now() + HOUR_MS;
  expect(sightings.unchangedMs("a", "1", laterMs)).toBe(0);
  expect(sightings.unchangedMs("a", "1", laterMs)).toBeGreaterThan(HOUR_MS / 2);
  expect(sightings.unchangedMs("a", "2", laterMs)).toBe(0);
  for (let index = 0; index < 9999; index++) sightings.unchangedMs(`k${index}`, "1", laterMs);
  expect(sightings.unchangedMs("a", "2", laterMs)).toBeGreaterThan(HOUR_MS / 2);
  sightings.unchangedMs("one more", "1", laterMs);
  expect(sightings.unchangedMs("a", "2", laterMs)).toBeGreaterThan(HOUR_MS / 2);
  expect(sightings.unchangedMs("k0", "1", laterMs)).toBe(0);
  sightings.forget("a");
  expect(sightings.unchangedMs("a", "2", laterMs)).toBe(0);
});
