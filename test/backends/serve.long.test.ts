import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  jpeg,
  outrigger,
  serve,
  temporaryDirectory,
  type Uploaded,
  uploaded,
} from "../../packages/server/test/outrigger-process.ts";
import { freePort } from "../support/listen.ts";
import { startRedis } from "../support/redis-server.ts";
import { partOf } from "../support/soak.ts";
import { fetchBytes, fetchJson } from "./fetch-bytes.ts";
import { createSelfSigned } from "./self-signed.ts";
import { type Servers, STORAGE_NAMES, startServers } from "./servers.ts";
import { environmentOf } from "./storage-urls.ts";

const SECRET = { OUTRIGGER_SECRET: "the same for all processes, 32 bytes" };

const STORAGES = partOf(STORAGE_NAMES, ["a directory", "S3 with records in PostgreSQL"]);

let servers: Servers;
beforeAll(async () => {
  servers = await startServers(STORAGES);
});
afterAll(() => servers.close());

/** The public view of an image. */
async function seen(base: string, { id }: Uploaded) {
  const record = await fetchJson(`${base}/api/images/${id}.json`);
  const [original, rendition] = await Promise.all(
    ["jpg", "png?resize=32x"].map((suffix) => fetchBytes(`${base}/api/images/${id}.${suffix}`)),
  );
  const statuses = [record.status, original?.status, rendition?.status];
  const { name, size, expiresAt } = record.body;
  return { statuses, name, size, expiresAt, original: original?.bytes, rendition: rendition?.bytes };
}

/** Uploads and edits through one process, then reads and deletes through its successor. */
async function liveThroughRestart(env: Record<string, string>): Promise<string> {
  const cwd = await temporaryDirectory();
  const first = serve(cwd, [], env);
  const before = await first.url;
  const picture = await jpeg();
  const image = await uploaded(before, picture);
  const change = { method: "PATCH", headers: { "X-Service-Image-Pin": image.pin } };
  expect((await fetchJson(`${before}/api/images/${image.id}.json?name=Neu`, change)).status).toBe(200);
  const kept = await seen(before, image);
  expect(kept).toMatchObject({ statuses: [200, 200, 200], name: "Neu", size: picture.length });
  expect(kept.original?.equals(picture)).toBe(true);
  expect(kept.rendition?.subarray(1, 4).toString()).toBe("PNG");
  first.child.kill("SIGTERM");
  expect(await first.exit).toBe(0);

  const second = serve(cwd, [], env);
  const after = await second.url;
  expect(await seen(after, image)).toEqual(kept);
  const { exit, output } = outrigger(["images", "stats", "--json"], { cwd, env });
  expect(await exit).toBe(0);
  expect(JSON.parse(output.stdout)).toMatchObject({ images: 1 });
  const deletion = { method: "DELETE", headers: { "X-Service-Image-Pin": image.pin } };
  expect((await fetchBytes(`${after}/api/images/${image.id}.json`, deletion)).status).toBe(204);
  expect((await seen(after, image)).statuses).toEqual([410, 410, 410]);
  second.child.kill("SIGTERM");
  expect(await second.exit).toBe(0);
  return first.output.stderr + second.output.stderr;
}

describe("outrigger with OUTRIGGER_STORAGE", () => {
  it.each(STORAGES)("the storage %s keeps images over a restart", async (name) => {
    const log = await liveThroughRestart({ ...SECRET, ...environmentOf(servers.createStorage(name)) });
    // A cluster and S3 each print their own warning, but no error.
    expect(log).not.toMatch(/"level":[56]0/);
    // With a Redis among the stores all processes share rate limits.
    expect(log.includes("Rate limits count per process")).toBe(
      name === "S3" || name === "S3 with records in PostgreSQL",
    );
    // At each of the two starts.
    expect(log.split("The records are in object storage").length - 1).toBe(name === "S3" ? 2 : 0);
  });

  it("serve --check warns once of records in object storage", async () => {
    const env = { ...SECRET, ...environmentOf(servers.createStorage("S3")) };
    const { exit, output } = outrigger(["serve", "--check"], { cwd: await temporaryDirectory(), env });
    await exit;
    expect(output.stdout.split("The records are in object storage")).toHaveLength(2);
  });

  it("a Redis over TLS with a password keeps images over a restart", async () => {
    const directory = await temporaryDirectory();
    const { certificate, key } = await createSelfSigned(directory);
    const port = await freePort();
    const tls = ["--tls-port", String(port), "--tls-cert-file", certificate, "--tls-key-file", key];
    const server = await startRedis({
      args: [...tls, "--tls-ca-cert-file", certificate, "--tls-auth-clients", "no", "--requirepass", "s@fe"],
      password: "s@fe",
    });
    try {
      const env = { ...SECRET, OUTRIGGER_STORAGE: `rediss://:s%40fe@127.0.0.1:${port}` };
      const { exit, output } = outrigger(["serve"], { cwd: directory, env });
      expect(await exit).toBe(1);
      expect(output.stderr).toMatch(/^outrigger: The storage rediss:.* cannot be used: .*certificate/);
      const log = await liveThroughRestart({ ...env, NODE_EXTRA_CA_CERTS: certificate });
      expect(output.stderr + log).not.toMatch(/s@fe|s%40fe/);
    } finally {
      await server.close();
    }
  });

  it("a missing bucket exits with 1 and names the bucket", async () => {
    const env = environmentOf(servers.createStorage("S3"));
    const OUTRIGGER_STORAGE = String(env.OUTRIGGER_STORAGE).replace(/s3:[^?]*/, "s3://not-there");
    const cwd = await temporaryDirectory();
    const { exit, output } = outrigger(["serve"], { cwd, env: { ...SECRET, ...env, OUTRIGGER_STORAGE } });
    expect({ code: await exit, stderr: output.stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^outrigger: The storage s3:\/\/not-there\/\?.* cannot be used: .*no such bucket[^\n]*\n$/m,
      ),
    });
  });
});
