import { readFile } from "node:fs/promises";
import {
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketVersioningCommand,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jpegPhoto } from "../../../test/support/pictures.ts";
import { type S3Server, startS3Server } from "../../../test/support/s3-server.ts";
import { addressOf, startSite, upload } from "../../../test/support/service.ts";
import { createS3BlobStore } from "./s3-blob-store.ts";

const DAY_S = 5;
const TEST_MS = 120_000;

let server: S3Server;
beforeAll(async () => {
  server = await startS3Server({ lifecycleDayS: DAY_S });
});
afterAll(() => server.stop());

test(
  "the README's lifecycle rules delete only renditions and leases, and deleted renditions are rendered again",
  async () => {
    const bucket = await server.createBucket();
    const { endpoint, credentials } = server;
    const line = { bucket, endpoint, credentials, timeoutMs: 10_000 };
    const originals = createS3BlobStore({ ...line, prefix: "outrigger/" });
    const renditions = createS3BlobStore({ ...line, prefix: "renditions/" });
    const storage = { records: originals, originals, renditions };
    const site = await startSite({ storage, secret: Buffer.alloc(32, 1) });
    try {
      const { id } = await upload(site, await jpegPhoto(400, 300), "image/jpeg");
      const draw = async () => {
        const response = await fetch(addressOf(site, id, "png"));
        expect(response.status).toBe(200);
        return Buffer.from(await response.arrayBuffer());
      };
      const names = async (prefix: string) => {
        const page = await server.client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }));
        return (page.Contents ?? []).map(({ Key = "" }) => Key);
      };
      const first = await draw();
      await originals.acquireLease(`${id}/x`, 3_600_000);
      await originals.addDue("list", { id, dueMs: 1 });
      const kept = [...(await names("outrigger/blobs/")), ...(await names("outrigger/due/"))];
      expect(kept.length).toBeGreaterThanOrEqual(3);
      // The lease of the rendition is released once it is stored.
      await expect.poll(() => names("outrigger/leases/")).toHaveLength(1);

      await applyRulesOfReadme(bucket);
      const patience = { timeout: 90_000, interval: 500 };
      await expect.poll(() => names("renditions/blobs/"), patience).toEqual([]);
      await expect.poll(() => names("outrigger/leases/"), patience).toEqual([]);
      expect(await originals.acquireLease(`${id}/x`, 3_600_000)).not.toBeNull();
      expect((await draw()).equals(first)).toBe(true);
      const left = [...(await names("outrigger/blobs/")), ...(await names("outrigger/due/"))];
      expect(left).toEqual(expect.arrayContaining(kept));
      expect((await fetch(addressOf(site, id, "jpg"))).status).toBe(200);
      expect(site.errors).toEqual([]);
    } finally {
      await site.close();
    }
  },
  TEST_MS,
);

test(
  "the README's lifecycle rules delete the old versions and delete markers of deleted blobs",
  async () => {
    const bucket = await server.createBucket();
    const { endpoint, credentials, client } = server;
    await client.send(
      new PutBucketVersioningCommand({
        Bucket: bucket,
        VersioningConfiguration: { Status: "Enabled" },
      }),
    );
    const store = createS3BlobStore({
      bucket,
      endpoint,
      credentials,
      timeoutMs: 10_000,
      prefix: "outrigger/",
    });
    const versions = async () => {
      const { Versions = [], DeleteMarkers = [] } = await client.send(
        new ListObjectVersionsCommand({ Bucket: bucket, Prefix: "outrigger/blobs/" }),
      );
      return [...Versions, ...DeleteMarkers].map(({ Key = "" }) => Key);
    };
    await store.put("a", Buffer.from("1"));
    await store.put("a", Buffer.from("2"));
    await store.delete("a");
    await store.put("b", Buffer.from("stays"));
    expect(await versions()).toHaveLength(4);
    await applyRulesOfReadme(bucket);
    await expect.poll(versions, { timeout: 90_000, interval: 500 }).toEqual(["outrigger/blobs/b"]);
    expect(String((await store.get("b"))?.body)).toBe("stays");
    await store.close();
  },
  TEST_MS,
);

/** Sets the rules of the README with 1 day each; a day of this gateway lasts `DAY_S` seconds. */
async function applyRulesOfReadme(bucket: string): Promise<void> {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const json = /```json\n(\{\n {2}"Rules"[\s\S]*?)```/.exec(readme)?.[1];
  if (json === undefined) throw new Error("The README contains no lifecycle rules.");
  const LifecycleConfiguration = JSON.parse(json.replace(/"(Days|NoncurrentDays)": \d+/g, '"$1": 1'));
  await server.client.send(
    new PutBucketLifecycleConfigurationCommand({ Bucket: bucket, LifecycleConfiguration }),
  );
}
