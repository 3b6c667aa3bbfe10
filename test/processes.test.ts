import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pngPhoto } from "./support/pictures.ts";
import { postWithHeaders, RESPOND_ASYNC } from "./support/post-with-headers.ts";
import type { Created } from "./support/service.ts";

const HOST = fileURLToPath(new URL("./support/processing-host.mjs", import.meta.url));
const PROCESSES = 3;

let directory: string;
let log: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-processes-"));
  log = join(directory, "log");
});

afterAll(async () => {
  for (const child of children) {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
  await rm(directory, { recursive: true, force: true });
});

async function startProcess(): Promise<string> {
  const child = spawn(process.execPath, [HOST, join(directory, "data"), log], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  return String(line).trim();
}

test("processes on one directory share the pending work, and do nothing twice", async () => {
  const bases = await Promise.all(Array.from({ length: PROCESSES }, startProcess));
  const picture = await pngPhoto(40, 30);
  const created = await Promise.all(
    Array.from({ length: 36 }, async () => {
      const response = await postWithHeaders({ base: bases[0] ?? "" }, picture, "image/png", RESPOND_ASYNC);
      expect(response.status).toBe(202);
      return (await response.json()) as Created;
    }),
  );
  const addresses = created.map(({ id }, index) => `${bases[index % PROCESSES]}/${id}`);
  // All were sent to one. The others would find them within half a minute, and do at once when they are asked.
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
