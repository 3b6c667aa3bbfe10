import { expect, test } from "vitest";
import type { SqlValue } from "../driver/sql-driver.ts";
import { BlobConnection } from "./blob-connection.ts";
import { createLookUps } from "./look-ups.ts";

/** A connection whose statements wait until the test settles them. */
function heldConnection() {
  const statements: { keys: string; resolve: () => void; reject: (error: Error) => void }[] = [];
  const hold = (keys: string) =>
    new Promise<undefined>((resolve, reject) =>
      statements.push({ keys, resolve: () => resolve(undefined), reject }),
    );
  class HeldConnection extends BlobConnection {
    override first = async (_statement: string, [key]: readonly SqlValue[] = []) => hold(String(key));
    override all = async (_statement: string, [, keys]: readonly SqlValue[] = []) =>
      hold(String(keys)).then(() => []);
  }
  const held = new HeldConnection({
    url: "postgres://localhost/none",
    prefix: "images",
    timeoutMs: 2000,
    maxConnections: 1,
  });
  return { held, statements };
}

test("a failed statement fails its own look-ups, and those that wait are looked up without the aborted ones", async () => {
  const { held, statements } = heldConnection();
  const lookUp = createLookUps(held, 2000);
  const running = [lookUp("a"), lookUp("b")];
  const aborted = new AbortController();
  void lookUp("c", aborted.signal);
  const waiting = [lookUp("d"), lookUp("e")];
  aborted.abort();
  statements[0]?.reject(new Error("The connection broke"));
  await expect(running[0]).rejects.toThrow("The connection broke");
  await expect.poll(() => statements.map(({ keys }) => keys)).toEqual(["a", "b", "d,e"]);
  for (const { resolve } of statements) resolve();
  expect(await Promise.all([running[1], ...waiting])).toEqual([undefined, undefined, undefined]);
});

test("a look-up that waited for the whole time limit is rejected without a statement, a later one is not", async () => {
  const { held, statements } = heldConnection();
  const lookUp = createLookUps(held, 500);
  void lookUp("a");
  void lookUp("b");
  const overdue = lookUp("c");
  const begun = performance.now();
  await expect.poll(() => performance.now() - begun).toBeGreaterThan(500);
  const inTime = lookUp("d");
  statements[0]?.resolve();
  await expect(overdue).rejects.toMatchObject({ code: "store_unavailable" });
  await expect.poll(() => statements.map(({ keys }) => keys)).toEqual(["a", "b", "d"]);
  statements[2]?.resolve();
  expect(await inTime).toBeUndefined();
});
