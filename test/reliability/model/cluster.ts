import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { renameSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { StorageDescription } from "../../backends/open-storage.mjs";
import { postImage } from "../../support/service.ts";
import type { Operation, Outcome } from "./operation.ts";

const HOST = fileURLToPath(new URL("./host.mjs", import.meta.url));
const HOUR_MS = 3_600_000;

/** An image under test. */
export interface TestImage {
  id: string;
  pin: string;
  name: string;
  expiresAt: number;
}

/** Several processes on one storage, with one clock. */
export interface Cluster {
  size: number;
  /** Uploads a picture that lives for an hour. */
  create(): Promise<TestImage>;
  /** Runs an operation on one of the processes. */
  run(process: number, image: TestImage, operation: Operation): Promise<Outcome>;
  close(): Promise<void>;
}

const PICTURE = Buffer.from("\x89PNG\r\n\x1a\nnot looked at by the renderer of this test", "latin1");

/**
 * @param storage empty; its creator removes it
 * @param mutant the fault of the processes' store of records, see host.mjs
 */
export async function startCluster(
  size: number,
  storage: StorageDescription,
  mutant = "none",
): Promise<Cluster> {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-model-"));
  const clockFile = join(directory, "clock");
  let aheadMs = 0;
  const setClock = () => {
    writeFileSync(`${clockFile}.new`, String(aheadMs));
    renameSync(`${clockFile}.new`, clockFile);
  };
  setClock();
  const children: ChildProcess[] = [];
  const bases = await Promise.all(
    Array.from({ length: size }, async () => {
      const args = [HOST, JSON.stringify(storage), clockFile, mutant];
      const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
      children.push(child);
      const [line] = await once(child.stdout.setEncoding("utf8"), "data");
      return String(line).trim();
    }),
  );
  const baseOf = (index: number) => bases[index % size] ?? "";
  const now = () => Date.now() + aheadMs;

  return {
    size,
    async create() {
      const expiresAt = now() + HOUR_MS;
      const response = await postImage({ base: baseOf(0) }, PICTURE, "image/png", {
        name: "first",
        expiresAt: new Date(expiresAt).toISOString(),
      });
      const { id, pin, name } = (await response.json()) as TestImage;
      return { id, pin, name, expiresAt };
    },
    async run(process, image, operation) {
      const base = baseOf(process);
      const record = `${base}/api/images/${image.id}.json`;
      switch (operation.kind) {
        case "expire":
          aheadMs += 2 * HOUR_MS;
          setClock();
          return { status: 0 };
        case "withhold":
        case "release":
        case "sweep":
          return statusOf(await fetch(`${base}/admin/${operation.kind}/${image.id}`, { method: "POST" }));
        case "read":
          return recordOf(await fetch(record));
        case "picture":
          return pictureOf(await fetch(`${base}/api/images/${image.id}.png`));
        case "delete":
          return statusOf(await fetch(record, { method: "DELETE", headers: headersFor(image, operation) }));
        default: {
          const { kind: _, ifMatch: __, ...change } = operation;
          const headers = { ...headersFor(image, operation), "Content-Type": "application/json" };
          return recordOf(await fetch(record, { method: "PATCH", headers, body: JSON.stringify(change) }));
        }
      }
    },
    async close() {
      for (const child of children) {
        child.kill("SIGKILL");
        if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      }
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function headersFor({ pin }: TestImage, { ifMatch }: { ifMatch: string | null }): Record<string, string> {
  return { "X-Service-Image-Pin": pin, ...(ifMatch === null ? {} : { "If-Match": ifMatch }) };
}

async function statusOf(response: Response): Promise<Outcome> {
  await response.arrayBuffer();
  return { status: response.status };
}

async function recordOf(response: Response): Promise<Outcome> {
  const { status } = response;
  const body = (await response.json()) as { name: string; expiresAt: string };
  if (status !== 200) return { status };
  const etag = response.headers.get("etag") ?? "";
  return { status, name: body.name, expiresAt: Date.parse(body.expiresAt), etag };
}

async function pictureOf(response: Response): Promise<Outcome> {
  const { status } = response;
  const bytes = Buffer.from(await response.arrayBuffer());
  return status === 200 ? { status, isWhole: bytes.equals(PICTURE) } : { status };
}
