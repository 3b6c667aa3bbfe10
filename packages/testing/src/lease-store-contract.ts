import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { BlobStore, LeaseStore } from "@outrigger/core/stores";
import { assertBytes, assertRejects, someBytes } from "./blob-store/scope.ts";
import type { ConformanceTest } from "./conformance-test.ts";
import { assertRecognised } from "./foreign-copy.ts";
import {
  acquired,
  type LeasingStore,
  LONG_MS,
  POLL_MS,
  untilAcquired,
  withLeases,
} from "./lease-store/scope.ts";
import { callBoth, closedBehaviour, type PairTest, pairTest } from "./pair.ts";

export interface LeaseStoreContractOptions {
  /** Opens another store on the backend of the first, as another process would. @default the first itself */
  openAnother?: (store: BlobStore) => Promise<BlobStore>;
  /**
   * Length of leases whose expiry is awaited, in milliseconds, at least 1000. It must exceed every pause of
   * the machine. @default 2000
   */
  leaseMs?: number;
  /** `false` for a store that has the ability, but whose service does not support leases. @default true */
  isSupported?: boolean;
}

/** The tolerated delay on a busy machine. */
const GRACE_MS = 60_000;

/**
 * Tests that a store fulfils the {@link LeaseStore} contract.
 *
 * @param test The `test` or `it` of any runner, whose time limit should be at least 30 s.
 * @param create Creates a store. Several may share one backend that already holds data: every case uses its
 * own keys.
 */
export function leaseStoreContract(
  test: ConformanceTest,
  create: () => Promise<BlobStore>,
  options: LeaseStoreContractOptions = {},
): void {
  const { openAnother } = options;
  const it = pairTest(
    test,
    "leases",
    async () => withLeases(await create()),
    openAnother && (async (one) => withLeases(await openAnother(one))),
  );
  if (options.isSupported === false) {
    unsupportedBehaviour(it);
    return;
  }
  it("leasesSupported returns true, or is absent, if the store supports leases", async (pair) => {
    const { one, id: key } = pair;
    assert.equal((await one.leasesSupported?.()) ?? true, true);
    await acquired(one, key);
  });
  holderBehaviour(it);
  timeBehaviour(it, options.leaseMs ?? 2000);
  keysBehaviour(it);
  endBehaviour(it);
}

function unsupportedBehaviour(it: PairTest<LeasingStore>): void {
  it("a store whose service does not support leases reports false, and grants none", async (pair) => {
    const { one, another, id: key } = pair;
    assert.equal(await one.leasesSupported?.(), false);
    await assertRejects(() => one.acquireLease(key, LONG_MS), "store_unavailable", "acquire");
    await assertRejects(() => another.acquireLease(key, LONG_MS), "store_unavailable", "acquire again");
    assert.equal(await another.leasesSupported?.(), false);
  });

  it("leasesSupported does not return false after the store is closed", async ({ one }) => {
    await one.close();
    await assertRejects(async () => one.leasesSupported?.(), "store_unavailable", "supported");
  });
}

function holderBehaviour(it: PairTest<LeasingStore>): void {
  it("of 50 simultaneous acquireLease calls, exactly one gets the lease", async (pair) => {
    const answers = await callBoth(pair, 50, (store) => store.acquireLease(pair.id, LONG_MS));
    assert.equal(answers.filter((proof) => proof !== null).length, 1);
  });

  it("a held lease is refused to other stores and to its holder", async ({ one, another, id: key }) => {
    const proof = await acquired(one, key);
    assert.equal(await another.acquireLease(key, LONG_MS), null);
    assert.equal(await one.acquireLease(key, LONG_MS), null);
    assert.equal(await one.renewLease(key, proof, LONG_MS), true);
    assert.equal(await another.acquireLease(key, LONG_MS), null);
  });

  it("any process with the proof can renew and release the lease", async ({ one, another, id: key }) => {
    const proof = await acquired(one, key);
    for (const store of [another, one, another])
      assert.equal(await store.renewLease(key, proof, LONG_MS), true);
    await another.releaseLease(key, proof);
    assert.equal(await one.renewLease(key, proof, LONG_MS), false);
    await acquired(one, key);
  });

  it("a lease can be neither renewed nor released with a wrong proof", async (pair) => {
    const { one, another, id: key } = pair;
    const proof = await acquired(one, key);
    const foreign = await acquired(one, `${key}/other`);
    for (const wrong of [foreign, "", "x", `${proof}0`, proof.slice(0, -1), "*", "é", "x".repeat(1000)]) {
      assert.equal(await another.renewLease(key, wrong, LONG_MS), false, JSON.stringify(wrong));
      await another.releaseLease(key, wrong);
      assert.equal(await another.acquireLease(key, LONG_MS), null, JSON.stringify(wrong));
    }
    assert.equal(await one.renewLease(key, proof, LONG_MS), true);
  });

  it("a released lease is free at once, and its proof no longer works", async (pair) => {
    const { one, another, id: key } = pair;
    const first = await acquired(one, key);
    await one.releaseLease(key, first);
    const second = await acquired(another, key);
    assert.notEqual(second, first);
    assert.equal(await one.renewLease(key, first, LONG_MS), false);
    await one.releaseLease(key, first);
    assert.equal(await one.acquireLease(key, LONG_MS), null);
    assert.equal(await another.renewLease(key, second, LONG_MS), true);
    await another.releaseLease(key, second);
    await another.releaseLease(key, second);
    await acquired(one, key);
  });

  it("a lease that is not held can be neither renewed nor released", async ({ one, id: key }) => {
    assert.equal(await one.renewLease(key, "x", LONG_MS), false);
    await one.releaseLease(key, "x");
    await acquired(one, key);
  });
}

function timeBehaviour(it: PairTest<LeasingStore>, leaseMs: number): void {
  it("a lease that is not renewed expires in time, and its proof no longer works", async (pair) => {
    const { one, another, id: key } = pair;
    const begunMs = performance.now();
    const first = await acquired(one, key, leaseMs);
    const second = await untilAcquired(another, key, leaseMs + GRACE_MS);
    assert.ok(performance.now() - begunMs >= leaseMs - 1, "the lease was acquired too early");
    assert.equal(await one.renewLease(key, first, LONG_MS), false);
    await one.releaseLease(key, first);
    assert.equal(await one.acquireLease(key, LONG_MS), null);
    assert.equal(await another.renewLease(key, second, LONG_MS), true);
  });

  it("of 20 processes that wait for a lease, exactly one gets it after its holder is gone", async (pair) => {
    const key = pair.id;
    await acquired(pair.one, key, leaseMs);
    const deadlineMs = performance.now() + leaseMs + GRACE_MS;
    let holders = 0;
    await callBoth(pair, 20, async (store) => {
      while (holders === 0 && performance.now() < deadlineMs) {
        if ((await store.acquireLease(key, LONG_MS)) !== null) holders++;
        await delay(POLL_MS);
      }
    });
    assert.equal(holders, 1);
  });

  it("a renewed lease outlives its original length", async ({ one, another, id: key }) => {
    const proof = await acquired(one, key, leaseMs);
    const endMs = performance.now() + 2.5 * leaseMs;
    while (performance.now() < endMs) {
      assert.equal(await one.renewLease(key, proof, leaseMs), true);
      assert.equal(await another.acquireLease(key, leaseMs), null);
      await delay(leaseMs / 8);
    }
    await one.releaseLease(key, proof);
    await acquired(another, key);
  });

  it("a lease renewed for a shorter time expires earlier", async ({ one, another, id: key }) => {
    const proof = await acquired(one, key, LONG_MS);
    assert.equal(await one.renewLease(key, proof, leaseMs), true);
    await untilAcquired(another, key, leaseMs + GRACE_MS);
  });

  it("a lease lasts as long as its holder requested, whatever length others request", async (pair) => {
    const { one, another, id: key } = pair;
    const proof = await acquired(one, key, LONG_MS);
    const endMs = performance.now() + leaseMs;
    while (performance.now() < endMs) {
      assert.equal(await another.acquireLease(key, 100), null);
      await delay(POLL_MS);
    }
    assert.equal(await one.renewLease(key, proof, LONG_MS), true);
  });
}

function keysBehaviour(it: PairTest<LeasingStore>): void {
  it("leases of different keys are independent", async ({ one, another, id: key }) => {
    const keys = [key, `${key}/a`, `${key}a`, `${key}-`, `${key.slice(0, -1)}y`];
    const proofs: string[] = [];
    for (const each of keys) proofs.push(await acquired(one, each));
    await one.releaseLease(key, proofs[0] ?? "");
    await acquired(another, key);
    for (const each of keys) assert.equal(await another.acquireLease(each, LONG_MS), null, each);
  });

  it("a lease is independent of the blob with the same key", async ({ one, another, id }) => {
    const [prefix, key] = [`${id}/`, `${id}/x`];
    const proof = await acquired(one, key);
    assert.equal(await one.stat(key), null);
    assert.equal(await one.get(key), null);
    assert.deepEqual(await one.list(prefix), { keys: [] });
    assert.equal(await one.delete(key), false);
    assert.equal(await another.acquireLease(key, LONG_MS), null);
    const bytes = someBytes(100);
    await one.put(key, bytes, { ifRevision: null });
    assert.deepEqual(await one.list(prefix), { keys: [key] });
    assert.equal(await one.delete(key), true);
    assert.equal(await one.renewLease(key, proof, LONG_MS), true);
    await one.put(key, bytes);
    await one.releaseLease(key, proof);
    await assertBytes(one, key, bytes);
    await acquired(another, key);
    await one.delete(key);
  });

  it("invalid keys and lease lengths are rejected with bad_request", async ({ one, id: key }) => {
    const keys = ["", "/", "/a", "a/", "a//b", "..", "a/../b", "a b", "é", "a\n", "a\0", "a".repeat(2000)];
    for (const wrong of keys) {
      const hint = JSON.stringify(wrong.slice(0, 20));
      await assertRejects(() => one.acquireLease(wrong, LONG_MS), "bad_request", hint);
      await assertRejects(() => one.renewLease(wrong, "x", LONG_MS), "bad_request", hint);
      await assertRejects(() => one.releaseLease(wrong, "x"), "bad_request", hint);
    }
    for (const wrong of [0, 99, -1, 100.5, 3_600_001, Number.NaN, Number.POSITIVE_INFINITY]) {
      await assertRejects(() => one.acquireLease(key, wrong), "bad_request", String(wrong));
      await assertRejects(() => one.renewLease(key, "x", wrong), "bad_request", String(wrong));
    }
    const proof = await acquired(one, key, 3_600_000);
    assert.equal(await one.renewLease(key, proof, 3_600_000), true);
  });
}

function endBehaviour(it: PairTest<LeasingStore>): void {
  it("failures are errors that another copy of core recognises", ({ one, id: key }) =>
    assertRecognised(() => one.acquireLease(key, -1), "bad_request"));

  closedBehaviour(
    it,
    async ({ one }) => one,
    ({ one, id: key }) => ({
      acquire: () => one.acquireLease(key, LONG_MS),
      renew: () => one.renewLease(key, "x", LONG_MS),
      release: () => one.releaseLease(key, "x"),
    }),
  );
}
