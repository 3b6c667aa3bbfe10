import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pngPhoto } from "./support/pictures.ts";
import { postWithHeaders, RESPOND_ASYNC } from "./support/post-with-headers.ts";
import type { Created } from "./support/service.ts";
import { type StartedProcess, startProcess } from "./support/start-process.ts";

const HOST = new URL("./support/processing-host.mjs", import.meta.url);
const PROCESSES = 3;

let directory: string;
let log: string;
let processes: StartedProcess[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-processes-"));
  log = join(directory, "log");
});

afterAll(async () => {
  for (const each of processes) await each.kill();
  await rm(directory, { recursive: true, force: true });
});

test("three processes on one directory share the pending uploads and process none twice", async () => {
  const args = [HOST, join(directory, "data"), log];
  processes = await Promise.all(Array.from({ length: PROCESSES }, () => startProcess(args)));
  const bases = processes.map(({ announced }) => announced);
  const picture = await pngPhoto(40, 30);
  const created = await Promise.all(
    Array.from({ length: 36 }, async () => {
      const response = await postWithHeaders({ base: bases[0] ?? "" }, picture, "image/png", RESPOND_ASYNC);
      expect(response.status).toBe(202);
      return (await response.json()) as Created;
    }),
  );
  const addresses = created.map(({ id }, index) => `${bases[index % PROCESSES]}/${id}`);
  // One process received all uploads. The others find them within 30 s, or at once with a request for the image.
  await Promise.all(addresses.map((address) => fetch(address)));
  for (const address of addresses) {
    while ((await fetch(address)).status === 202) await delay(20);
    const answer = await fetch(address);
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer()).equals(picture)).toBe(true);
  }
  const seen = (await readFile(log, "utf8")).trim().split("\n");
  const ids = seen.map((line) => /\/([\w-]{22})\/upload@/.exec(line)?.[1]);
  expect(ids.sort()).toEqual(created.map(({ id }) => id).sort());
  expect(new Set(seen.map((line) => line.split(" ")[0])).size).toBeGreaterThan(1);

  const isLeft = async () => {
    const paths = await readdir(join(directory, "data"), { recursive: true });
    return paths.some((path) => /\/upload@|^due\/jobs\/.+\//.test(path));
  };
  while (await isLeft()) await delay(20);
});
