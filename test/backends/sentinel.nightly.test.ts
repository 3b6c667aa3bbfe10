// Nightly: a Redis with Sentinels, and its fail-over.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  jpeg,
  outrigger,
  serve,
  temporaryDirectory,
  upload,
} from "../../packages/server/test/outrigger-process.ts";
import { type SentinelSetup, startSentinels, until } from "../support/redis-sentinel.ts";
import { fetchBytes } from "./fetch-bytes.ts";

const SECRET = { OUTRIGGER_SECRET: "the same for all processes, 32 bytes" };
const LOSES_WRITES = "has replicas but acknowledges writes before any of them has received them";

let setup: SentinelSetup;
beforeAll(async () => {
  setup = await startSentinels();
});
afterAll(() => setup.close());

describe("outrigger on Redis behind Sentinels", () => {
  it("the service continues with the new master when the old one is killed", async () => {
    const cwd = await temporaryDirectory();
    const env = { ...SECRET, OUTRIGGER_STORAGE: `${setup.url}?prefix=served&timeoutMs=10000` };
    const node = serve(cwd, [], env);
    const base = await node.url;
    const picture = await jpeg();
    const ids: string[] = [];
    const isUploaded = async () => {
      const response = await upload(base, picture);
      const { id } = (await response.json()) as { id: string };
      if (response.status === 201) ids.push(id);
      return response.status === 201;
    };
    expect(await isUploaded()).toBe(true);
    const old = await setup.master();
    // Writes that a fail-over loses without min-replicas-to-write are not the subject of this test.
    expect(Number(await old.cli("WAIT", "2", "10000"))).toBe(2);
    await old.kill();
    await until("an upload to be stored by the new master", isUploaded);
    expect(await setup.master()).not.toBe(old);
    for (const id of ids) expect((await fetchBytes(`${base}/api/images/${id}.jpg`)).status).toBe(200);
    node.child.kill("SIGTERM");
    expect(await node.exit).toBe(0);
    expect(node.output.stderr.split(LOSES_WRITES)).toHaveLength(2);
  });

  it("serve --check warns that a fail-over may lose writes", async () => {
    const cwd = await temporaryDirectory();
    const env = { ...SECRET, OUTRIGGER_STORAGE: `${setup.url}?prefix=served&timeoutMs=10000` };
    const { exit, output } = outrigger(["serve", "--check"], { cwd, env });
    await exit;
    expect(output.stdout).toContain(`warning  storage: The Redis server ${LOSES_WRITES}`);
    expect(output.stdout).toMatch(/ok {7}storage: redis\+sentinel:\/\/[\d.:,]+\/main\?prefix=served\n/);
  });

  it("a Sentinel given as a Redis server exits with 1 and names the URL to use", async () => {
    const [sentinel] = setup.sentinels;
    const place = `127.0.0.1:${sentinel?.port}`;
    const env = { ...SECRET, OUTRIGGER_STORAGE: `redis://${place}` };
    const { exit, output } = outrigger(["serve"], { cwd: await temporaryDirectory(), env });
    expect(await exit).toBe(1);
    expect(output.stderr).toContain(
      `is a Redis Sentinel: the URL must be redis+sentinel://${place}/main, with all Sentinels separated by commas`,
    );
  });
});
