import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Account, Accounts, Charge } from "@outrigger/core/lookup";
import { accountKeysBehaviour } from "./accounts/keys.ts";
import { reserveBehaviour } from "./accounts/reserve.ts";
import { accountOf, KEY } from "./accounts/samples.ts";
import type { ConformanceTest } from "./conformance-test.ts";
import { assertRecognised } from "./foreign-copy.ts";
import { callBoth, closedBehaviour, type PairTest, pairTest } from "./pair.ts";

export interface AccountsContractOptions {
  /** Opens accounts on the same data, as another process would. @default the same object */
  openAnother?: (accounts: Accounts) => Promise<Accounts>;
}

/**
 * Tests that an implementation fulfils the {@link Accounts} contract.
 *
 * @param test The `test` or `it` of any runner, whose time limit should be at least 30 s.
 * @param create Creates accounts. Several may share one backend that already holds data: every case uses its
 * own account IDs.
 */
export function accountsContract(
  test: ConformanceTest,
  create: () => Promise<Accounts>,
  options: AccountsContractOptions = {},
): void {
  const it = pairTest(test, "accounts", create, options.openAnother);
  accountsBehaviour(it);
  accountKeysBehaviour(it);
  reserveBehaviour(it);

  it("failures are errors that another copy of core recognises", async ({ one, id }) => {
    const hash = randomBytes(32).toString("base64url");
    await one.create(accountOf(id));
    await one.addKey(id, hash, KEY);
    await assertRecognised(() => one.addKey(id, hash, KEY), "conflict");
  });

  closedBehaviour(
    it,
    async ({ one, id }) => {
      await one.create(accountOf(id));
      return one;
    },
    ({ one, id }) => {
      const charge: Charge = { account: id, kind: "searches", month: "2026-03", request: "r" };
      return {
        create: () => one.create(accountOf(`${id}-2`)),
        get: () => one.get(id),
        list: () => one.list({ limit: 1 }),
        addKey: () => one.addKey(id, "h".repeat(43), KEY),
        findByKey: () => one.findByKey("h".repeat(43)),
        keys: () => one.keys(id),
        revokeKeys: () => one.revokeKeys(id, "or_1", 1),
        reserve: () => one.reserve(charge, 1, 10, 1),
        preview: () => one.preview(charge, 1, 10, 1),
        charge: () => one.charge(charge, 1, 10, 1),
        renew: () => one.renew([charge], 1),
        settle: () => one.settle(charge, 1),
        usage: () => one.usage(id, "2026-03", 1),
      };
    },
  );
}

function accountsBehaviour(it: PairTest<Accounts>): void {
  it("an account is stored with every field unchanged", async ({ one, another, id }) => {
    const full: Account = {
      id,
      email: "ann@a.example",
      firstName: "Änn “A” \\",
      lastName: "O'Lee",
      plan: "large plan",
      createdAt: 1_790_000_000_123,
    };
    assert.equal(await one.get(id), null);
    assert.equal(await one.create(full), true);
    assert.deepEqual(await another.get(id), full);
    const bare = accountOf(`${id}-B`);
    assert.equal(await one.create(bare), true);
    assert.deepEqual(await another.get(bare.id), bare);
    // The IDs differ only in case.
    assert.equal(await another.get(`${id}-b`), null);
  });

  it("create with an existing ID returns false and keeps the existing account", async (pair) => {
    const { one, another, id } = pair;
    const first = accountOf(id);
    assert.equal(await one.create(first), true);
    assert.equal(await another.create({ ...first, plan: "other", email: "x@x.example" }), false);
    assert.deepEqual(await one.get(id), first);
  });

  it("of many simultaneous create calls for one ID, exactly one returns true", async (pair) => {
    const { one, id } = pair;
    const results = await callBoth(pair, 20, (accounts, index) =>
      accounts.create({ ...accountOf(id), plan: `plan-${index}` }),
    );
    assert.equal(results.filter(Boolean).length, 1);
    assert.equal((await one.get(id))?.plan, `plan-${results.indexOf(true)}`);
  });

  it("list returns accounts in order of creation, page by page", async ({ one, another, id }) => {
    const ids = ["c", "a", "-b", "_", "Z", "0", "aa"].map((suffix) => `${id}${suffix}`);
    for (const [index, each] of ids.entries())
      await one.create({ ...accountOf(each), createdAt: 1000 + index });
    const read = async (limit: number) => {
      const listed: string[] = [];
      for (let after: string | undefined; ; after = listed.at(-1)) {
        const page = await another.list({ limit, ...(after !== undefined && { after }) });
        assert.ok(page.length <= limit);
        if (page.length === 0) return listed;
        listed.push(...page.map((account) => account.id));
      }
    };
    for (const limit of [1, 3, 1000]) {
      const listed = await read(limit);
      assert.deepEqual(
        listed.filter((each) => each.startsWith(id)),
        ids,
      );
      assert.equal(new Set(listed).size, listed.length);
    }
    const [third] = await another.list({ limit: 1, after: ids[1] ?? "" });
    assert.deepEqual(third, { ...accountOf(ids[2] ?? ""), createdAt: 1002 });
  });
}
