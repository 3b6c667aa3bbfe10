import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { type BlobStore, isLocalStore } from "@outrigger/core/stores";
import { abilitiesBehaviour, type BlobStoreAbility } from "./blob-store/abilities.ts";
import { conditionsBehaviour } from "./blob-store/conditions.ts";
import { keysBehaviour } from "./blob-store/keys.ts";
import { readsBehaviour } from "./blob-store/reads.ts";
import { type BlobStoreScope, failure, someBytes } from "./blob-store/scope.ts";
import { writesBehaviour } from "./blob-store/writes.ts";
import type { ConformanceTest } from "./conformance-test.ts";
import { assertRecognised, foreignError } from "./foreign-copy.ts";
import { closedBehaviour, type PairTest, pairTest } from "./pair.ts";

export type { BlobStoreAbility } from "./blob-store/abilities.ts";

export interface BlobStoreContractOptions {
  /** Exactly the optional abilities of the store. @default none */
  abilities?: readonly BlobStoreAbility[];
  /** Size of the largest blob stored, in bytes, at least 1,000,000. @default 5_242_881 */
  largestBytes?: number;
  /** Number of keys listed, at least 200. @default 1000 */
  listedKeys?: number;
}

/**
 * Tests that a store fulfils the {@link BlobStore} contract and that of each optional ability. For a due
 * index it also runs `dueIndexContract`.
 *
 * @param test The `test` or `it` of any runner, whose time limit should be at least 30 s.
 * @param create Creates a store. Several may share one backend that already holds data: every case uses its
 * own keys.
 */
export function blobStoreContract(
  test: ConformanceTest,
  create: () => Promise<BlobStore>,
  options: BlobStoreContractOptions = {},
): void {
  const pairs = pairTest(test, "blob store", create);
  const scope: BlobStoreScope = {
    test: (name, body) => pairs(name, ({ one, id }) => body(one, id)),
    largestBytes: options.largestBytes ?? 5 * 2 ** 20 + 1,
    listedKeys: options.listedKeys ?? 1000,
  };
  writesBehaviour(scope);
  readsBehaviour(scope);
  conditionsBehaviour(scope);
  keysBehaviour(scope);
  closeBehaviour(pairs);
  foreignCopyBehaviour(scope);
  abilitiesBehaviour(scope, options.abilities ?? []);
}

function foreignCopyBehaviour({ test }: BlobStoreScope): void {
  test("failures are errors that another copy of core recognises", async (store, key) => {
    await store.put(key, someBytes(10));
    await assertRecognised(() => store.put(key, someBytes(10), { ifRevision: null }), "conflict");
    await assertRecognised(() => store.get(key, { range: { start: 10, end: 20 } }), "bad_request");
  });

  test("put rejects with the error of a failed body, also if another copy of core created it", async (store, key) => {
    const trouble = foreignError("timeout");
    async function* failing(): AsyncGenerator<Buffer> {
      yield someBytes(200_000);
      throw trouble;
    }
    assert.equal(await failure(() => store.put(key, Readable.from(failing()))), trouble);
    assert.equal(await store.get(key), null);
  });
}

function closeBehaviour(it: PairTest<BlobStore>): void {
  closedBehaviour(
    it,
    async ({ one, id }) => {
      await one.put(id, someBytes(10));
      return one;
    },
    ({ one, id }) => ({
      get: () => one.get(id),
      stat: () => one.stat(id),
      put: () => one.put(id, someBytes(10)),
      delete: () => one.delete(id),
      list: () => one.list(""),
      "list below": () => one.list(`${id}/`),
      ...(isLocalStore(one) && {
        adopt: () => one.adopt(id, "x"),
        path: () => one.localPath(id),
        secret: () => one.localSecret(),
      }),
    }),
  );
}
