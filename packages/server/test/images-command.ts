import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createFsBlobStore } from "@outrigger/core";
import { NameIndex } from "../../core/src/stores/name-index.ts";
import { outrigger } from "./outrigger-process.ts";

/** Runs `outrigger images …` to its end. */
export async function images(cwd: string, ...args: string[]) {
  const { exit, output } = outrigger(["images", ...args], { cwd });
  return { code: await exit, ...output };
}

/** The record of an image in the data directory below `cwd`. */
export async function readRecord(cwd: string, id: string): Promise<Record<string, unknown>> {
  const store = createFsBlobStore({ directory: join(cwd, "data") });
  const blob = await store.get(`${id}/record`);
  if (!Buffer.isBuffer(blob?.body)) throw new Error(`The record of ${id} is missing or a stream`);
  await store.close();
  return JSON.parse(blob.body.toString("utf8"));
}

/** The record of a stored image. */
export const SAMPLE_RECORD = {
  v: 1,
  name: "stripes.jpg",
  type: "image/jpeg",
  size: 1_000_000,
  sha256: "0".repeat(64),
  width: 64,
  height: 48,
  pages: 1,
  agent: null,
  createdAt: Date.now(),
  updatedAt: Date.now(),
  expiresAt: Date.now() + 86_400_000,
  ...{ owner: null, gone: null, withheld: null, processing: null, failure: null },
};

type RecordChange = Record<string, unknown> & { owner?: { name: string } };

/**
 * Stores a copy of {@link SAMPLE_RECORD} with each of the changes under a new ID, without the validation of a server.
 */
export async function addRecords(cwd: string, changes: readonly RecordChange[]): Promise<string[]> {
  const store = createFsBlobStore({ directory: join(cwd, "data") });
  const ofOwners = new NameIndex(store, "owned");
  const ids: string[] = [];
  for (const change of changes) {
    const id = randomBytes(16).toString("base64url");
    await store.put(`${id}/record`, Buffer.from(JSON.stringify({ ...SAMPLE_RECORD, id, ...change })));
    const { createdAt } = SAMPLE_RECORD;
    if (change.owner !== undefined) await ofOwners.add(change.owner.name, { id, createdAt });
    ids.push(id);
  }
  await store.close();
  return ids;
}
