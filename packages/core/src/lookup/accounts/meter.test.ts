import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RESERVATION_MS } from "../../contracts/accounts.ts";
import type { LookupSettings } from "../lookup-settings.ts";
import { createMemoryAccounts } from "../memory/memory-accounts.ts";
import { createMeter, monthOf } from "./meter.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 2, 15) });
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
  const meter = createMeter(accounts, settings);
  const used = async () => (await accounts.usage(account.id, monthOf(Date.now()), Date.now())).verifications;
  return { accounts, meter, account, errors, used };
}

test("a reservation whose cost is pending is renewed, and settled when the cost is known", async () => {
  const { meter, account, used } = await metered();
  const { settleWith } = await meter.reserve(account, "verifications", ["a"], 1);
  let finish = (_: number) => {};
  const settled = settleWith(
    new Promise<number>((resolve) => {
      finish = resolve;
    }),
  );
  await vi.advanceTimersByTimeAsync(20 * RESERVATION_MS);
  expect(await used()).toBe(1);
  finish(1);
  await settled;
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(20 * RESERVATION_MS);
  expect(await used()).toBe(1);
});

test("a reservation that its process no longer renews lapses within a minute", async () => {
  const { accounts, meter, account, used } = await metered();
  const { settleWith } = await meter.reserve(account, "verifications", ["a"], 1);
  void settleWith(new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(10 * RESERVATION_MS);
  expect(await used()).toBe(1);
  // A process that died renews nothing.
  vi.spyOn(accounts, "renew").mockResolvedValue();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await used()).toBe(0);
});

test("a cost that rejects removes its reservation and rejects", async () => {
  const { meter, account, used } = await metered();
  const { settleWith } = await meter.reserve(account, "verifications", ["a"], 1);
  const failure = new Error("The probe failed");
  await expect(settleWith(Promise.reject(failure))).rejects.toBe(failure);
  expect(await used()).toBe(0);
});

test("a failed renewal is reported, and the next one keeps the reservation", async () => {
  const { accounts, meter, account, errors, used } = await metered();
  const failure = new Error("The database is away");
  vi.spyOn(accounts, "renew").mockRejectedValueOnce(failure).mockRejectedValueOnce(failure);
  const { settleWith } = await meter.reserve(account, "verifications", ["a"], 1);
  void settleWith(new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(3 * RESERVATION_MS);
  expect(errors).toEqual([failure, failure]);
  expect(await used()).toBe(1);
});
