import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RESERVATION_MS } from "../../contracts/accounts.ts";
import type { LookupSettings } from "../lookup-settings.ts";
import { createMemoryAccounts } from "../memory/memory-accounts.ts";
import { Meter, monthOf } from "./meter.ts";

beforeEach(() => {
  // Nothing else is faked: timers of the runner would be counted.
  vi.useFakeTimers({ now: Date.UTC(2026, 2, 15), toFake: ["Date", "setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function metered() {
  const accounts = createMemoryAccounts();
  const account = {
    id: "a-1",
    email: null,
    firstName: null,
    lastName: null,
    plan: "free",
    createdAt: 0,
  };
  await accounts.create(account);
  const errors: unknown[] = [];
  // The meter uses no other settings.
  const settings = {
    now: () => Date.now(),
    onError: (error: unknown) => errors.push(error),
    allowanceOf: () => ({ searches: 100, verifications: 100 }),
  } as unknown as LookupSettings;
  const meter = new Meter(accounts, settings);
  const used = async () => (await accounts.usage(account.id, monthOf(Date.now()), Date.now())).verifications;
  return { accounts, meter, account, errors, used };
}

describe("a quote", () => {
  test("charges the cost once, and the same request nothing", async () => {
    const { account, meter, used } = await metered();
    const first = await meter.quote(account, "verifications", ["a"], 10);
    expect(first).toMatchObject({ points: 10, isRepeat: false });
    expect(await first.charge(4)).toBe(4);
    expect(await used()).toBe(4);
    const again = await meter.quote(account, "verifications", ["a"], 10);
    expect(again).toMatchObject({ points: 4, isRepeat: true });
    expect(await again.charge(10)).toBe(4);
    expect(await used()).toBe(4);
  });

  test("that is held counts before it is charged, and not after a cost of 0", async () => {
    const { account, meter, used } = await metered();
    const quote = await meter.quote(account, "verifications", ["a"], 10);
    await quote.hold();
    expect(await used()).toBe(10);
    expect(await quote.charge(0)).toBe(0);
    expect(await used()).toBe(0);
  });

  test("rejects with too_many_requests if no points are left", async () => {
    const { account, meter } = await metered();
    await (await meter.quote(account, "verifications", ["a"], 100)).charge(100);
    await expect(meter.quote(account, "verifications", ["b"], 1)).rejects.toMatchObject({
      id: "too_many_requests",
    });
  });
});

test("a quote whose points other requests use up is charged what is left, then rejects", async () => {
  const { accounts, account, meter, used } = await metered();
  vi.spyOn(accounts, "reserve");
  const quotes = [];
  for (const request of ["a", "b", "c"])
    quotes.push(await meter.quote(account, "verifications", [request], 60));
  const [first, second, third] = quotes;
  expect(await first?.charge(60)).toBe(60);
  expect(await second?.charge(60)).toBe(40);
  await expect(third?.charge(1)).rejects.toMatchObject({ id: "too_many_requests" });
  expect(await third?.charge(0)).toBe(0);
  expect(await used()).toBe(100);
  expect(accounts.reserve).not.toHaveBeenCalled();
});

test("reserved points are renewed until they are charged", async () => {
  const { meter, account, used } = await metered();
  const reserved = await meter.reserve(account, "verifications", ["a"], 1);
  await vi.advanceTimersByTimeAsync(20 * RESERVATION_MS);
  expect(await used()).toBe(1);
  await reserved.charge(1);
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(20 * RESERVATION_MS);
  expect(await used()).toBe(1);
});

test("points that their process no longer renews are free within a minute", async () => {
  const { accounts, meter, account, used } = await metered();
  await meter.reserve(account, "verifications", ["a"], 1);
  await vi.advanceTimersByTimeAsync(10 * RESERVATION_MS);
  expect(await used()).toBe(1);
  // A process that died renews nothing.
  vi.spyOn(accounts, "renew").mockResolvedValue();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await used()).toBe(0);
});

test("a closing meter waits until reserved points are charged", async () => {
  const { meter, account } = await metered();
  const reserved = await meter.reserve(account, "verifications", ["a"], 1);
  let isClosed = false;
  const closing = meter.close().then(() => {
    isClosed = true;
  });
  await vi.advanceTimersByTimeAsync(1);
  expect(isClosed).toBe(false);
  await reserved.charge(0);
  await closing;
});

test("a failed renewal is reported, and the next one keeps the reservation", async () => {
  const { accounts, meter, account, errors, used } = await metered();
  const failure = new Error("The database is away");
  vi.spyOn(accounts, "renew").mockRejectedValueOnce(failure).mockRejectedValueOnce(failure);
  await meter.reserve(account, "verifications", ["a"], 1);
  await vi.advanceTimersByTimeAsync(3 * RESERVATION_MS);
  expect(errors).toEqual([failure, failure]);
  expect(await used()).toBe(1);
});
