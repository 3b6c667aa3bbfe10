import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { SuppressionList } from "@outrigger/core/lookup";
import type { ConformanceTest } from "./conformance-test.ts";
import { callBoth, closedBehaviour, pairTest } from "./pair.ts";

export interface SuppressionListContractOptions {
  /** Opens a list on the same data, as another process would. @default the same object */
  openAnother?: (list: SuppressionList) => Promise<SuppressionList>;
}

/**
 * Tests that a list fulfils the {@link SuppressionList} contract.
 *
 * @param test The `test` or `it` of any runner, whose time limit should be at least 30 s.
 * @param create Creates a list. Several may share one backend if no other process changes it meanwhile.
 */
export function suppressionListContract(
  test: ConformanceTest,
  create: () => Promise<SuppressionList>,
  options: SuppressionListContractOptions = {},
): void {
  const it = pairTest(test, "suppression list", create, options.openAnother);

  it("present returns exactly the tokens that are on the list", async ({ one, another }) => {
    const [there, notThere] = [randomTokens(100), randomTokens(100)];
    await one.add(there);
    const mixed = there.flatMap((token, index) => [token, notThere[index] ?? ""]);
    assert.deepEqual(await another.present(mixed), new Set(there));
    assert.deepEqual(await another.present(notThere), new Set());
    assert.deepEqual(await another.present([]), new Set());
    assert.deepEqual(await another.present(there.slice(0, 1)), new Set(there.slice(0, 1)));
  });

  it("tokens that differ only in case are distinct", async ({ one, another }) => {
    const [token = ""] = randomTokens(1);
    const lower = `a${token.slice(1)}`;
    const upper = `A${token.slice(1)}`;
    await one.add([lower]);
    assert.deepEqual(await another.present([lower, upper]), new Set([lower]));
  });

  it("adding an existing token again does not change the count", async ({ one, another }) => {
    const before = await one.count();
    const tokens = randomTokens(5);
    await one.add(tokens.slice(0, 3));
    await another.add([...tokens, ...tokens]);
    assert.equal(await one.count(), before + 5);
    await one.add([]);
    await Promise.all(Array.from({ length: 10 }, () => one.add(tokens)));
    assert.equal(await another.count(), before + 5);
  });

  it("remove deletes tokens and returns the number deleted", async ({ one, another }) => {
    const before = await one.count();
    const tokens = randomTokens(6);
    await one.add(tokens);
    assert.equal(await another.remove([...tokens.slice(0, 2), ...tokens.slice(0, 2), ...randomTokens(3)]), 2);
    assert.equal(await another.remove(tokens.slice(0, 2)), 0);
    assert.equal(await another.remove([]), 0);
    assert.deepEqual(await one.present(tokens), new Set(tokens.slice(2)));
    assert.equal(await one.count(), before + 4);
  });

  it("of many simultaneous remove calls for one token, exactly one returns 1", async (pair) => {
    const tokens = randomTokens(1);
    await pair.one.add(tokens);
    const removed = await callBoth(pair, 10, (list) => list.remove(tokens));
    assert.deepEqual(removed.toSorted(), [...Array(9).fill(0), 1]);
  });

  it("claim adds all tokens if the first is absent, and none otherwise", async ({ one, another }) => {
    const before = await one.count();
    const [claimed = "", ...others] = randomTokens(4);
    const late = randomTokens(2);
    assert.equal(await one.claim(claimed, others), true);
    assert.equal(await another.claim(claimed, late), false);
    assert.deepEqual(await another.present([claimed, ...others, ...late]), new Set([claimed, ...others]));
    // Only the first token decides; the others may exist already.
    assert.equal(await another.claim(late[0] ?? "", others), true);
    assert.equal(await one.count(), before + 5);
  });

  it("of many simultaneous claim calls for one token, exactly one adds its tokens", async (pair) => {
    const [claimed = "", ...others] = randomTokens(11);
    const added = await callBoth(pair, 10, (list, index) => list.claim(claimed, [others[index] ?? ""]));
    const winner = others.filter((_, index) => added[index]);
    assert.equal(winner.length, 1);
    assert.deepEqual(await pair.one.present([claimed, ...others]), new Set([claimed, ...winner]));
  });

  it("many tokens can be added, found and removed at once", async ({ one, another }) => {
    const before = await one.count();
    const tokens = randomTokens(5000);
    await one.add(tokens);
    assert.equal(await another.count(), before + 5000);
    assert.equal((await another.present(tokens.slice(4800))).size, 200);
    assert.equal(await another.remove(tokens), 5000);
    assert.equal(await one.count(), before);
  });

  closedBehaviour(
    it,
    async ({ one }) => one,
    ({ one }) => {
      const tokens = randomTokens(1);
      return {
        add: () => one.add(tokens),
        claim: () => one.claim("x".repeat(43), tokens),
        remove: () => one.remove(tokens),
        present: () => one.present(tokens),
        count: () => one.count(),
      };
    },
  );
}

function randomTokens(count: number): string[] {
  return Array.from({ length: count }, () => randomBytes(32).toString("base64url"));
}
