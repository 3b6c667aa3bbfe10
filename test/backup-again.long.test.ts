import { join } from "node:path";
import { createFsBlobStore } from "@outrigger/core";
import type { BackupReport, RestoreReport } from "@outrigger/ops";
import { expect, it } from "vitest";
import { ran, temporaryDirectory } from "../packages/server/test/outrigger-process.ts";
import { bytesOf, opened, redis, signalAfter } from "./support/migration.ts";
import { stockDirectory } from "./support/stocked-directory.ts";

const SECRET = { OUTRIGGER_SECRET: "the same for all processes, 32 bytes" };
/** One key after the other, so that all that happens has an order. */
const SLOWLY = ["--json", "--concurrency", "1"];
const IMAGES = 30;

it("a killed backup or restore is not taken for complete, and the next run resumes it", async () => {
  const cwd = await temporaryDirectory();
  const ids = await stockDirectory(join(cwd, "data"), IMAGES, 2_000);
  const storage = { ...SECRET, OUTRIGGER_STORAGE: `${(await redis()).url}?timeoutMs=20000` };
  const restoring = ["restore", "--from", "file:./backup", ...SLOWLY];
  const backingUp = ["backup", "--to", "file:./backup", ...SLOWLY];
  expect((await ran(cwd, backingUp, SECRET)).code).toBe(0);

  // A restore to Redis that is killed is not served, and ends when it is run again.
  expect((await ran(cwd, restoring, { ...storage, ...signalAfter("SIGKILL", 150) })).code).toBe("SIGKILL");
  const refused = await ran(cwd, ["images", "list"], storage);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("their restore from file:") });
  const again = await ran(cwd, restoring, storage);
  const { restored, kept, isComplete } = JSON.parse(again.stdout) as RestoreReport;
  expect([restored + kept, isComplete]).toEqual([IMAGES, true]);
  expect(kept).toBeGreaterThan(0);

  // So is a backup of that Redis.
  const elsewhere = ["backup", "--to", "file:./second", ...SLOWLY];
  expect((await ran(cwd, elsewhere, { ...storage, ...signalAfter("SIGKILL", 150) })).code).toBe("SIGKILL");
  const early = await ran(cwd, ["restore", "--from", "file:./second", "--data", "new"], {});
  expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining("the backup is not whole") });
  const report = JSON.parse((await ran(cwd, elsewhere, storage)).stdout) as BackupReport;
  expect([report.copied + report.unchanged, report.isComplete]).toEqual([3 * IMAGES, true]);
  expect(report.unchanged).toBeGreaterThan(0);

  const [first, last] = ["data", "second"].map((name) =>
    opened(createFsBlobStore({ directory: join(cwd, name) })),
  );
  if (first === undefined || last === undefined) throw new Error("There are no stores");
  for (const key of ids.flatMap((id) => [`${id}/record`, `${id}/original`])) {
    expect((await bytesOf(last, key)).equals(await bytesOf(first, key))).toBe(true);
  }
});
