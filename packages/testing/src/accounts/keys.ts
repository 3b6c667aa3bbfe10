import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Accounts } from "@outrigger/core/lookup";
import { assertRejects } from "../blob-store/scope.ts";
import type { PairTest } from "../pair.ts";
import { accountOf, KEY } from "./samples.ts";

/** Adding, finding and revoking keys. */
export function accountKeysBehaviour(it: PairTest<Accounts>): void {
  it("an account is found by the hash of each of its keys", async ({ one, another, id }) => {
    const account = accountOf(id);
    await one.create(account);
    await one.create(accountOf(`${id}-other`));
    const keys = ["one", "two"].map((name, index) => ({
      hash: hashOf(id + name),
      key: { hint: `or_${name}`, createdAt: 1_790_000_000_000 + index, revokedAt: null },
    }));
    for (const { hash, key } of keys) await one.addKey(id, hash, key);
    for (const { hash } of keys) assert.deepEqual(await another.findByKey(hash), account);
    const [first = ""] = keys.map(({ hash }) => hash);
    assert.equal(await another.findByKey(hashOf("unknown")), null);
    assert.equal(await another.findByKey(first.slice(0, -1)), null);
    assert.equal(await another.findByKey(first.toUpperCase()), null);
    assert.deepEqual(
      (await another.keys(id)).toSorted((a, b) => a.createdAt - b.createdAt),
      keys.map(({ key }) => key),
    );
    assert.deepEqual(await another.keys(`${id}-other`), []);
  });

  it("addKey rejects a known hash with conflict, also for another account and for a revoked key", async (pair) => {
    const { one, another, id } = pair;
    await one.create(accountOf(id));
    await one.create(accountOf(`${id}-other`));
    const hash = hashOf(id);
    await one.addKey(id, hash, KEY);
    await assertRejects(() => another.addKey(id, hash, KEY), "conflict", "the same account");
    await assertRejects(() => another.addKey(`${id}-other`, hash, KEY), "conflict", "another account");
    await one.revokeKeys(id, KEY.hint, 2);
    await assertRejects(() => another.addKey(id, hash, KEY), "conflict", "a revoked one");
    assert.equal(await one.findByKey(hash), null);
    assert.equal((await one.keys(id)).length, 1);
    assert.deepEqual(await one.keys(`${id}-other`), []);
  });

  it("revokeKeys revokes only the valid keys of the account that begin with the hint", async (pair) => {
    const { one, another, id } = pair;
    const other = `${id}-other`;
    for (const each of [id, other]) {
      await one.create(accountOf(each));
      for (const hint of ["or_a1", "or_a2", "or_b1", "or%a1"]) {
        await one.addKey(each, hashOf(each + hint), { hint, createdAt: 5, revokedAt: null });
      }
    }
    assert.equal(await another.revokeKeys(id, "or_a", 77), 2);
    assert.equal(await another.revokeKeys(id, "or_a", 88), 0);
    assert.equal(await another.revokeKeys(id, "or_%", 88), 0);
    assert.equal(await another.revokeKeys(id, "or%", 99), 1);
    const keys = (await one.keys(id)).map(({ hint, revokedAt }) => [hint, revokedAt]);
    assert.deepEqual(Object.fromEntries(keys), { or_a1: 77, or_a2: 77, or_b1: null, "or%a1": 99 });
    assert.equal(await one.findByKey(hashOf(`${id}or_a1`)), null);
    assert.equal((await one.findByKey(hashOf(`${id}or_b1`)))?.id, id);
    assert.equal((await one.findByKey(hashOf(`${other}or_a1`)))?.id, other);
    assert.equal(await another.revokeKeys(`${id}-absent`, "or_", 99), 0);
  });
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
