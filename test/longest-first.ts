import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * The files that take longest, from about half a minute on, the longest first. Those that wait and those that compute take
 * turns, so that the ones have what the others leave of the processor.
 */
const LONGEST = [
  "test/reliability/many-nodes-take-down.test.ts",
  "test/reliability/many-nodes-work.test.ts",
  "test/reliability/many-nodes-renders.test.ts",
  "test/reliability/model.test.ts",
  "test/reliability/many-nodes-requests.test.ts",
  "test/backends.test.ts",
  "test/reliability/slow-clients.test.ts",
  "test/lookup-server.test.ts",
  "test/bench-smoke.test.ts",
  "packages/server/src/commands/serve/serve.test.ts",
  "test/doctor.test.ts",
  "packages/redis/src/blobs/redis-expiry.test.ts",
  "packages/sql/src/transfer/import-kill.test.ts",
  "test/reliability/clock.test.ts",
  "test/migrate-again.test.ts",
  "test/backends/serve.test.ts",
  "packages/s3/src/s3-blob-store.test.ts",
  "test/hostile/bombs.test.ts",
  "test/storage.test.ts",
  "test/verify.test.ts",
  "test/backup.test.ts",
  "test/reliability/file-faults.test.ts",
  "packages/server/src/main.test.ts",
  "packages/koa/src/koa.test.ts",
  "test/reliability/redis-faults.test.ts",
  "test/backup-again.test.ts",
  "packages/redis/src/connection/redis-sentinel.test.ts",
  "test/lookup/suppression.test.ts",
  "packages/server/src/commands/serve/drain.test.ts",
  "packages/server/src/config/load-config.test.ts",
].map((name) => {
  if (!existsSync(root + name)) throw new Error(`${name} is not there: name the file that takes as long now`);
  return root + name;
});

/**
 * Begins with the files that take longest. Vitest does so from the second run on, by its cache; a first one, such as CI's, goes
 * by the size of files, and ends with one worker that waits for the other.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.indexOf(moduleId);
      return at === -1 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}
