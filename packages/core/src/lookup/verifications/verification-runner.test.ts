import { describe, expect, test } from "vitest";
import { CONFIRMED, createGate, type Site, siteOf, used } from "../../../test/lookup-library-site.ts";
import { createScriptedProber } from "../../../test/lookup-site.ts";
import { withMethods } from "../../../test/with-methods.ts";
import type { ProbeResult } from "../../contracts/mail-prober.ts";
import type { VerificationQueue } from "../../contracts/verification-queue.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryAccounts } from "../memory/memory-accounts.ts";
import { createMemoryVerificationQueue } from "../memory/memory-verification-queue.ts";

/** For tests that move the clock: each attempt ends before the next move. */
const SLOWLY = { interval: 250 };

/** A cache without entries, as if each had expired. */
const FORGETFUL = { get: async () => undefined, set: async () => true, delete: async () => true };

async function statuses(site: Site, id: string): Promise<unknown[]> {
  const { data } = await site.lookup.verificationList(id, { limit: 1000 });
  return data.results.map(({ status }) => status);
}

async function finished(site: Site, id: string): Promise<unknown[]> {
  await expect.poll(async () => (await site.lookup.verificationList(id)).data.status).toBe("done");
  return statuses(site, id);
}

/** A queue that outlives the lookups that use it, as a database does. */
function lasting(queue = createMemoryVerificationQueue()): VerificationQueue {
  return Object.assign(queue, { close: async () => undefined });
}

function lastingAccounts() {
  return Object.assign(createMemoryAccounts(), { close: async () => undefined });
}

describe("a single request over the budget of its mail host", () => {
  const BUDGET: Partial<ProbeResult> = { reason: "budget", retryAfterMs: 2000 };

  test("gets 202 and its verdict later from the queue, and is counted once", async () => {
    const answers = [BUDGET, BUDGET, CONFIRMED];
    const prober = createScriptedProber(async () => answers.shift() ?? {});
    const site = await siteOf({ prober });
    const first = await site.get("email-verifier", "email=ada@a.example");
    expect([first.status, first.headers["Retry-After"], first.body.data?.status]).toEqual([202, "2", null]);
    await expect.poll(() => prober.asked).toHaveLength(1);
    // Points are reserved again when its turn comes.
    expect(await used(site)).toEqual([0, 0]);
    const again = async () => {
      site.clock.now += 5000;
      const { status, body } = await site.get("email-verifier", "email=ada@a.example");
      return [status, body.data?.status];
    };
    await expect.poll(again).toEqual([200, "valid"]);
    expect(await used(site)).toEqual([0, 1]);
    expect(answers).toEqual([]);
  });

  test("survives the process: another one on the same queue does the verification", async () => {
    const [queue, accounts] = [lasting(), lastingAccounts()];
    const one = await siteOf({
      ...{ verifications: queue, accounts },
      prober: createScriptedProber(async () => BUDGET),
    });
    expect((await one.get("email-verifier", "email=ada@a.example")).status).toBe(202);
    await one.lookup.close();
    const prober = createScriptedProber(async () => CONFIRMED);
    const another = await siteOf({
      verifications: queue,
      accounts,
      prober,
      now: () => one.clock.now + 60_000,
    });
    await expect.poll(() => prober.asked).toEqual(["ada@a.example"]);
    await expect.poll(async () => (await queue.take(1, 1, Number.MAX_SAFE_INTEGER)).rows).toEqual([]);
    const usage = await accounts.usage(one.account, "2026-03", one.clock.now);
    expect(usage.verifications).toBe(1);
    expect(another.errors).toEqual([]);
  });
});

test("a greylisted row is verified again later, at most five times", async () => {
  const tries = new Map<string, number>();
  const prober = createScriptedProber(async (address) => {
    const count = (tries.get(address) ?? 0) + 1;
    tries.set(address, count);
    if (address === "late@a.example" && count === 3) return CONFIRMED;
    return { reason: "greylisted", retryAfterMs: 1000 };
  });
  const site = await siteOf({ prober, cache: FORGETFUL });
  const { id } = await site.lookup.verifyEmails(["late@a.example", "never@a.example"], {
    account: site.account,
  });
  const later = async () => {
    site.clock.now += 3_600_000;
    await site.lookup.verifyEmails(["wake@b.example"]);
    return statuses(site, id);
  };
  await expect.poll(later, SLOWLY).toEqual(["valid", "unknown"]);
  expect([tries.get("late@a.example"), tries.get("never@a.example")]).toEqual([3, 5]);
  expect(await used(site)).toEqual([0, 1]);
});

test("accounts are served in turn: a short list does not wait for a long one", async () => {
  const order: string[] = [];
  const prober = createScriptedProber(async (address) => {
    order.push(address);
    await new Promise((resolve) => setTimeout(resolve, 5));
    return CONFIRMED;
  });
  const site = await siteOf({
    prober,
    verifyAtOnce: 4,
    plans: { free: { searches: false, verifications: false } },
  });
  const other = await site.lookup.createAccount();
  const long = Array.from({ length: 400 }, (_, index) => `p${index}@long${index}.example`);
  const { id } = await site.lookup.verifyEmails(long, { account: site.account });
  await expect.poll(() => order.length).toBeGreaterThan(20);
  const short = Array.from({ length: 10 }, (_, index) => `p${index}@short${index}.example`);
  const listed = await site.lookup.verifyEmails(short, { account: other.account.id });
  await finished(site, listed.id);
  expect((await site.lookup.verificationList(id)).data.done).toBeLessThan(200);
});

test("at most verifyAtOnce rows are verified at once", async () => {
  const gate = createGate();
  const prober = createScriptedProber(async () => {
    await gate.opened;
    return CONFIRMED;
  });
  const site = await siteOf({ prober, verifyAtOnce: 3 });
  const emails = Array.from({ length: 10 }, (_, index) => `p${index}@d${index}.example`);
  const { id } = await site.lookup.verifyEmails(emails);
  await expect.poll(() => prober.asked).toHaveLength(3);
  expect((await site.lookup.verificationList(id)).data.status).toBe("running");
  gate.open();
  expect(new Set(await finished(site, id))).toEqual(new Set(["valid"]));
});

test("a row charged by a process that died before it stored the result is not charged again", async () => {
  const [accounts, kept] = [lastingAccounts(), lasting()];
  const dying = withMethods(kept, {
    finish: () => Promise.reject(new ServiceError("store_unavailable", "the process died")),
  });
  const prober = createScriptedProber(async () => CONFIRMED);
  const one = await siteOf({ accounts, verifications: dying, prober });
  const { id } = await one.lookup.verifyEmails(["ada@a.example"], { account: one.account });
  await expect.poll(() => used(one)).toEqual([0, 1]);
  await one.lookup.close();
  // 40 s later its lease has lapsed.
  const another = await siteOf({ accounts, verifications: kept, prober, now: () => one.clock.now + 40_000 });
  expect(await finished(another, id)).toEqual(["valid"]);
  const { verifications } = await accounts.usage(one.account, "2026-03", one.clock.now);
  expect(verifications).toBe(1);
});

test("close() waits for rows under way, and gives the others back at once", async () => {
  const queue = lasting();
  const prober = createScriptedProber((address, _, signal) =>
    address.startsWith("slow")
      ? new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve({ reason: "timeout" }));
        })
      : Promise.resolve(CONFIRMED),
  );
  const site = await siteOf({ verifications: queue, prober });
  const { id } = await site.lookup.verifyEmails(["slow@a.example", "fast@b.example"]);
  await expect.poll(() => prober.asked).toHaveLength(2);
  await site.lookup.close({ timeoutMs: 100 });
  const rows = await queue.rows(id, { offset: 0, limit: 2 });
  expect(rows.map(({ result }) => result === null)).toEqual([true, false]);
  const next = await queue.take(9, 1000, site.clock.now);
  expect(next.rows.map(({ email, attempts }) => [email, attempts])).toEqual([["slow@a.example", 0]]);
});

test("an unavailable queue is reported once, and its rows are verified when it is back", async () => {
  const kept = lasting();
  let isAway = true;
  const failing = withMethods(kept, {
    take: (...given) =>
      isAway ? Promise.reject(new ServiceError("store_unavailable", "away")) : kept.take(...given),
  });
  const site = await siteOf({ verifications: failing });
  const { id } = await site.lookup.verifyEmails(["ada@a.example"]);
  await expect.poll(() => site.errors).toHaveLength(1);
  await site.lookup.verifyEmails(["bob@a.example"]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  isAway = false;
  expect(await finished(site, id)).toEqual(["valid"]);
  expect(site.errors).toHaveLength(1);
});

test("a row that fails for an unexpected reason is reported, and gets unknown after five attempts", async () => {
  const prober = createScriptedProber(async (address) => {
    if (address.startsWith("bad")) throw new Error("a bug");
    return CONFIRMED;
  });
  const site = await siteOf({ prober });
  const { id } = await site.lookup.verifyEmails(["bad@a.example", "good@a.example"], {
    account: site.account,
  });
  const later = async () => {
    site.clock.now += 60_000;
    await site.lookup.verifyEmails(["wake@b.example"]);
    return statuses(site, id);
  };
  await expect.poll(later, SLOWLY).toEqual(["unknown", "valid"]);
  expect(site.errors).toHaveLength(5);
  expect(await used(site)).toEqual([0, 1]);
});
