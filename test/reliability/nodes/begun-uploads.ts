import { expect } from "vitest";
import type { StorageDescription } from "../../backends/open-storage.mjs";
import { RESPOND_ASYNC } from "../../support/post-with-headers.ts";
import { nodesDirectory, startNode, startNodes } from "./node-process.ts";
import { ask } from "./requests.ts";
import { admissionsOf, type File, makeFiles, send } from "./uploads.ts";

/**
 * Uploads files to a node that does not process, one after another or all at once, and asserts that other nodes process
 * each once. @returns how long after its reply each was begun, in milliseconds.
 */
export async function begunUploads(
  storage: StorageDescription,
  { count, isAtOnce }: { count: number; isAtOnce: boolean },
): Promise<number[]> {
  const config = { storage, directory: await nodesDirectory() };
  const [accepts] = await Promise.all([
    startNode({ ...config, processUploads: false }),
    startNodes(2, config),
  ]);
  const files = await makeFiles(count);
  const tookMs: number[] = [];
  const follow = async (file: File) => {
    const { status, id } = await send(accepts, file, RESPOND_ASYNC);
    const beganAt = performance.now();
    expect(status).toBe(202);
    const hasBegun = async () =>
      (await admissionsOf(config.directory)).some(({ sha256 }) => sha256 === file.sha256);
    await expect.poll(hasBegun, { interval: 20 }).toBe(true);
    tookMs.push(performance.now() - beganAt);
    const seen = async () => (await ask(`${accepts.base}/${id}`)).status;
    await expect.poll(seen, { interval: 20 }).toBe(200);
  };
  if (isAtOnce) await Promise.all(files.map(follow));
  else for (const file of files) await follow(file);
  const admissions = await admissionsOf(config.directory);
  const sums = (some: readonly { sha256: string }[]) => some.map(({ sha256 }) => sha256).sort();
  expect(sums(admissions)).toEqual(sums(files));
  expect(admissions.map(({ pid }) => pid)).not.toContain(accepts.pid);
  return tookMs;
}
