import assert from "node:assert/strict";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createScriptedProber } from "../../../test/lookup-site.ts";
import type { MailProber } from "../../contracts/mail-prober.ts";
import { createMemoryKeyValue } from "../../stores/memory/memory-key-value.ts";
import { parseAddress } from "../address/parse-address.ts";
import { Verifier } from "./verifier.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function verifierOf(prober: MailProber, suppressed: readonly string[] = []) {
  return new Verifier({
    ...{ prober, lists: null, cache: createMemoryKeyValue(), hmacKeys: [Buffer.alloc(32)] },
    isSuppressed: async (address) => suppressed.includes(address),
    onError: (error) => assert.fail(String(error)),
  });
}

function addressOf(local: string) {
  const parsed = parseAddress(`${local}@example.com`);
  assert(parsed !== null);
  return parsed;
}

/** A prober that ends by its signal only, and puts each probe in line if `waits`. */
function createEndlessProber(waits: boolean) {
  const leaveLine: (() => void)[] = [];
  const prober: MailProber = {
    async probe(_local, _domain, { signal, onWait }) {
      if (waits) onWait?.(() => 1000);
      leaveLine.push(() => onWait?.(null));
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return {
        ...{ routing: "found", server: null, mailbox: null, acceptsAll: null },
        ...{ reason: "timeout", retryAfterMs: null },
      };
    },
    close: async () => undefined,
  };
  return { prober, leaveLine };
}

test("the time in line does not count towards the time limit of a probe", async () => {
  const { prober, leaveLine } = createEndlessProber(true);
  const verifier = verifierOf(prober);
  let result: unknown;
  void verifier.probe(addressOf("ada"), null).then((given) => {
    result = given;
  });
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(result).toBeUndefined();
  expect(verifier.lineMs(addressOf("ada"))).toBe(1000);
  leaveLine[0]?.();
  expect(verifier.lineMs(addressOf("ada"))).toBe(0);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(result).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1000);
  expect(result).toMatchObject({ reason: "timeout" });
  await verifier.close();
});

test("an account may have 1000 probes in line, and further ones reject with overloaded and a retry time", async () => {
  const verifier = verifierOf(createEndlessProber(true).prober);
  for (let index = 0; index < 1000; index++) {
    void verifier.probe(addressOf(`n${index}`), "many");
    await vi.advanceTimersByTimeAsync(0);
  }
  const overloaded = { code: "overloaded", retryAfterMs: 30_000 };
  await expect(verifier.probe(addressOf("late"), "many")).rejects.toMatchObject(overloaded);
  // A probe under way is joined.
  const joined = verifier.probe(addressOf("n0"), "many");
  const other = verifier.probe(addressOf("late"), "other");
  await vi.advanceTimersByTimeAsync(0);
  await verifier.close();
  expect([await joined, await other]).toMatchObject([{ reason: "timeout" }, { reason: "timeout" }]);
});

test("a cached result is returned even if no further probe is accepted", async () => {
  const endless = createEndlessProber(false).prober;
  const quick = createScriptedProber(async () => ({ mailbox: true, acceptsAll: false }));
  const verifier = verifierOf({
    ...endless,
    probe: (local, domain, options) => (local === "quick" ? quick : endless).probe(local, domain, options),
  });
  await verifier.probe(addressOf("quick"), "many");
  for (let index = 0; index < 500; index++) void verifier.probe(addressOf(`n${index}`), "many");
  await vi.advanceTimersByTimeAsync(0);
  await expect(verifier.probe(addressOf("late"), "many")).rejects.toMatchObject({ code: "overloaded" });
  expect(await verifier.probe(addressOf("quick"), "many")).toMatchObject({ mailbox: true });
  await verifier.close();
});

test("of probes outside a line 500 run at a time, and further ones reject with overloaded", async () => {
  const verifier = verifierOf(createEndlessProber(false).prober);
  const results = Array.from({ length: 510 }, (_, index) =>
    verifier.probe(addressOf(`n${index}`), `account-${index}`).catch((error: unknown) => error),
  );
  await vi.advanceTimersByTimeAsync(0);
  await verifier.close();
  const codes = (await Promise.all(results)).flatMap((result) =>
    result instanceof Error && "code" in result ? [result.code] : [],
  );
  expect(codes).toEqual(Array.from({ length: 10 }, () => "overloaded"));
});

test("simultaneous verifications of one address share one probe", async () => {
  const prober = createScriptedProber(async () => ({ mailbox: false, reason: "user_unknown" }));
  const probe = vi.spyOn(prober, "probe");
  const verifier = verifierOf(prober);
  const results = await Promise.all(
    ["a-1", "a-2", null].map((account) => verifier.probe(addressOf("ada"), account)),
  );
  expect(results.map(({ reason }) => reason)).toEqual(Array.from({ length: 3 }, () => "user_unknown"));
  expect(probe).toHaveBeenCalledOnce();
});

test("a prober may ask again about an address that was accepted before, unless it is suppressed since", async () => {
  let mayAsk: ((address: string) => Promise<boolean>) | undefined;
  const { prober } = createEndlessProber(false);
  const verifier = verifierOf(
    {
      ...prober,
      probe(local, domain, options) {
        ({ mayAsk } = options);
        return prober.probe(local, domain, options);
      },
    },
    ["ada@example.com"],
  );
  void verifier.probe(addressOf("grace"), null);
  await vi.advanceTimersByTimeAsync(0);
  expect(await mayAsk?.("ada@example.com")).toBe(false);
  expect(await mayAsk?.("alan@example.com")).toBe(true);
  await verifier.close();
});
