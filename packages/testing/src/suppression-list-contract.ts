import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { SuppressionList } from "@outrigger/core/lookup";
import { assertRejects } from "./blob-store/scope.ts";
import type { ConformanceTest } from "./conformance-test.ts";
import { assertRecognised } from "./foreign-copy.ts";

export interface SuppressionListContractOptions {
  /** Opens a list on the same data, as another process would. @default the same object */
  openAnother?: (list: SuppressionList) => Promise<SuppressionList>;
}

type ListTest = (
  name: string,
  body: (one: SuppressionList, another: SuppressionList) => Promise<void>,
) => void;

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
  const check: ListTest = (name, body) =>
    test(`suppression list: ${name}`, async () => {
      const one = await create();
      const another = (await options.openAnother?.(one)) ?? one;
      try {
        await body(one, another);
      } finally {
        await Promise.all([one.close(), another.close()]);
      }
    });

  check("present returns exactly the tokens that are on the list", async (one, another) => {
    const [there, notThere] = [randomTokens(100), randomTokens(100)];
    await one.add(there);
    const mixed = there.flatMap((token, index) => [token, notThere[index] ?? ""]);
    assert.deepEqual(await another.present(mixed), new Set(there));
    assert.deepEqual(await another.present(notThere), new Set());
    assert.deepEqual(await another.present([]), new Set());
    assert.deepEqual(await another.present(there.slice(0, 1)), new Set(there.slice(0, 1)));
  });

  check("tokens that differ only in case are distinct", async (one, another) => {
    const [token = ""] = randomTokens(1);
    const lower = `a${token.slice(1)}`;
    const upper = `A${token.slice(1)}`;
    await one.add([lower]);
    assert.deepEqual(await another.present([lower, upper]), new Set([lower]));
  });

  check("adding an existing token again does not change the count", async (one, another) => {
    const before = await one.count();
    const tokens = randomTokens(5);
    await one.add(tokens.slice(0, 3));
    await another.add([...tokens, ...tokens]);
    assert.equal(await one.count(), before + 5);
    await one.add([]);
    await Promise.all(Array.from({ length: 10 }, () => one.add(tokens)));
    assert.equal(await another.count(), before + 5);
  });

  check("remove deletes tokens and returns the number deleted", async (one, another) => {
    const before = await one.count();
    const tokens = randomTokens(6);
    await one.add(tokens);
    assert.equal(await another.remove([...tokens.slice(0, 2), ...tokens.slice(0, 2), ...randomTokens(3)]), 2);
    assert.equal(await another.remove(tokens.slice(0, 2)), 0);
    assert.equal(await another.remove([]), 0);
    assert.deepEqual(await one.present(tokens), new Set(tokens.slice(2)));
    assert.equal(await one.count(), before + 4);
  });

  check("of many simultaneous remove calls for one token, exactly one returns 1", async (one, another) => {
    const tokens = randomTokens(1);
    await one.add(tokens);
    const removed = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? one : another).remove(tokens)),
    );
    assert.equal(
      removed.reduce((sum, count) => sum + count, 0),
      1,
    );
  });

  check("claim adds all tokens if the first is absent, and none otherwise", async (one, another) => {
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

  check(
    "of many simultaneous claim calls for one token, exactly one adds its tokens",
    async (one, another) => {
      const [claimed = "", ...others] = randomTokens(11);
      const added = await Promise.all(
        others.map((other, index) => (index % 2 === 0 ? one : another).claim(claimed, [other])),
      );
      const winner = others.filter((_, index) => added[index]);
      assert.equal(winner.length, 1);
      assert.deepEqual(await one.present([claimed, ...others]), new Set([claimed, ...winner]));
    },
  );

  check("many tokens can be added, found and removed at once", async (one, another) => {
    const before = await one.count();
    const tokens = randomTokens(5000);
    await one.add(tokens);
    assert.equal(await another.count(), before + 5000);
    assert.equal((await another.present(tokens.slice(4800))).size, 200);
    assert.equal(await another.remove(tokens), 5000);
    assert.equal(await one.count(), before);
  });

  check("failures are errors that another copy of core recognises", async (one) => {
    await one.close();
    await assertRecognised(() => one.count(), "store_unavailable");
  });

  check(
    "every method rejects with store_unavailable after close, and close may be called twice",
    async (one) => {
      const tokens = randomTokens(1);
      await one.close();
      await one.close();
      await assertRejects(() => one.add(tokens), "store_unavailable", "add");
      await assertRejects(() => one.claim("x".repeat(43), tokens), "store_unavailable", "claim");
      await assertRejects(() => one.remove(tokens), "store_unavailable", "remove");
      await assertRejects(() => one.present(tokens), "store_unavailable", "present");
      await assertRejects(() => one.count(), "store_unavailable", "count");
    },
  );
}

function randomTokens(count: number): string[] {
  return Array.from({ length: count }, () => randomBytes(32).toString("base64url"));
}
