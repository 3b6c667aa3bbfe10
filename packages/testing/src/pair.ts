import { randomBytes } from "node:crypto";
import { assertRejects } from "./blob-store/scope.ts";
import type { ConformanceTest } from "./conformance-test.ts";
import { assertRecognised } from "./foreign-copy.ts";

interface Closable {
  close(): Promise<void>;
}

/** Two objects on the same data, which may be the same object, and an ID that no other case uses. */
export interface Pair<T> {
  one: T;
  another: T;
  id: string;
}

export type PairTest<T> = (name: string, body: (pair: Pair<T>) => Promise<void>) => void;

/** Registers cases of a suite, each with its own pair, which is closed at the end. */
export function pairTest<T extends Closable>(
  test: ConformanceTest,
  suite: string,
  create: () => Promise<T>,
  openAnother?: (one: T) => Promise<T>,
): PairTest<T> {
  return (name, body) =>
    test(`${suite}: ${name}`, async () => {
      const one = await create();
      const another = (await openAnother?.(one)) ?? one;
      try {
        await body({ one, another, id: `contract-${randomBytes(9).toString("hex")}` });
      } finally {
        await Promise.all([one.close(), another.close()]);
      }
    });
}

/** Both objects of a pair are called by turns, at the same time. */
export function callBoth<T, R>(
  { one, another }: Pair<T>,
  count: number,
  call: (object: T, index: number) => Promise<R>,
): Promise<R[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => call(index % 2 === 0 ? one : another, index)),
  );
}

/** Registers the case that these calls reject after `close`, which may be called twice. */
export function closedBehaviour<S>(
  it: (name: string, body: (scope: S) => Promise<void>) => void,
  prepare: (scope: S) => Promise<Closable>,
  calls: (scope: S) => Record<string, () => unknown>,
): void {
  it("every method rejects with store_unavailable after close, and close may be called twice", async (scope) => {
    const object = await prepare(scope);
    await object.close();
    await object.close();
    for (const [name, call] of Object.entries(calls(scope))) {
      await assertRejects(async () => call(), "store_unavailable", name);
      await assertRecognised(async () => call(), "store_unavailable");
    }
  });
}
