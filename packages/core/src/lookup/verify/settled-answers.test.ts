import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createGate, siteOf, used } from "../../../test/lookup-library-site.ts";
import { createScriptedProber } from "../../../test/lookup-site.ts";
import { withMethods } from "../../../test/with-methods.ts";
import type { Accounts } from "../../contracts/accounts.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryAccounts } from "../memory/memory-accounts.ts";

/** Accounts that store the final cost of a look-up once `ready` resolves. */
function accountsAfter(ready: () => Promise<void>): Accounts {
  const accounts = createMemoryAccounts();
  return withMethods<Accounts>(accounts, {
    async settle(...args) {
      await ready();
      await accounts.settle(...args);
    },
    async charge(...args) {
      await ready();
      return accounts.charge(...args);
    },
  });
}

describe.each([
  ["domain-search", "domain=example.com", [1, 0]],
  ["email-finder", "domain=example.com&full_name=Ada%20Lovelace", [1, 0]],
  ["email-verifier", "email=ada.lovelace@example.com", [0, 1]],
] as const)("%s", (operation, search, cost) => {
  test("answers only after its cost is stored", async () => {
    const gate = createGate();
    const site = await siteOf({ accounts: accountsAfter(() => gate.opened) });
    let isAnswered = false;
    const asked = site.get(operation, search).finally(() => {
      isAnswered = true;
    });
    await delay(50);
    expect(isAnswered).toBe(false);
    gate.open();
    expect((await asked).status).toBe(200);
    expect(await used(site)).toEqual(cost);
  });

  test("answers 503, and not its result, if its cost cannot be stored", async () => {
    const site = await siteOf({
      accounts: accountsAfter(async () => {
        throw new ServiceError("store_unavailable", "The accounts are unavailable");
      }),
    });
    const { status, body } = await site.get(operation, search);
    expect([status, body.data, body.errors?.[0]?.id]).toEqual([503, undefined, "unavailable"]);
  });
});

test.each([
  ["an undeliverable address", "no.one@example.com", { server: true, mailbox: false, acceptsAll: false }, 1],
  ["a domain that accepts all", "any@example.com", { server: true, acceptsAll: true }, 1],
  ["a webmail address", "any@webmail.example", {}, 0],
  ["a disposable address", "any@trash.example", {}, 0],
  ["an unknown result", "any@example.com", { reason: "timeout", retryAfterMs: 1 }, 0],
] as const)("a verification of %s costs what its verdict says", async (_, email, answer, cost) => {
  const site = await siteOf({ prober: createScriptedProber(async () => answer) });
  expect((await site.get("email-verifier", `email=${email}`)).status).toBe(200);
  expect(await used(site)).toEqual([0, cost]);
});

test("a verification that fails costs nothing", async () => {
  const site = await siteOf({
    prober: createScriptedProber(async () => {
      throw new ServiceError("store_unavailable", "The cache is unavailable");
    }),
  });
  expect((await site.get("email-verifier", "email=any@example.com")).status).toBe(503);
  expect(await used(site)).toEqual([0, 0]);
});
