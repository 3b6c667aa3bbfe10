import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { MailProber, ProbeResult } from "@outrigger/core/lookup";
import type { ConformanceTest } from "./conformance-test.ts";

/** A local part and a domain, as {@link MailProber} accepts them. */
export type ProbedAddress = readonly [local: string, domain: string];

/** A prober, and addresses whose mail hosts it can query. */
export interface MailProberHarness {
  prober: MailProber;
  /** Its host accepts this address, and no other address of the domain. */
  taken: ProbedAddress;
  /** Its host reports that the mailbox does not exist. */
  unknown: ProbedAddress;
  /** Its host accepts any address of the domain. */
  ofAcceptsAll: ProbedAddress;
  /** Its host rejects this client because of the client's address. */
  refusing: ProbedAddress;
  /** Its host does not answer for at least 5 s. */
  silent: ProbedAddress;
  /** Its domain does not exist. */
  ofNoDomain: ProbedAddress;
  /** Its domain declares that it accepts no mail (RFC 7505). */
  ofNullMx: ProbedAddress;
  /** The DNS does not answer for its domain, or reports a failure. */
  ofNoAnswer: ProbedAddress;
  close(): Promise<void>;
}

/** The tolerated delay of an immediate answer. */
const AT_ONCE_MS = 30_000;

/**
 * Tests that a prober fulfils the {@link MailProber} contract.
 *
 * @param test The `test` or `it` of any runner, whose time limit should be at least 30 s.
 * @param create Creates a prober with the servers it queries; closing the prober stops them.
 */
export function mailProberContract(test: ConformanceTest, create: () => Promise<MailProberHarness>): void {
  function it(name: string, body: (harness: MailProberHarness) => Promise<void>): void {
    test(`mail prober: ${name}`, async () => {
      const harness = await create();
      try {
        await body(harness);
      } finally {
        await harness.prober.close();
        await harness.close();
      }
    });
  }
  answersBehaviour(it);
  endBehaviour(it);
}

type Check = (name: string, body: (harness: MailProberHarness) => Promise<void>) => void;

async function ask(
  { prober }: MailProberHarness,
  [local, domain]: ProbedAddress,
  { smtp = true, signal = new AbortController().signal } = {},
): Promise<ProbeResult> {
  const result = await prober.probe(local, domain, { smtp, signal });
  assertSound(result);
  return result;
}

/** Asserts the rules that hold for every result. */
function assertSound(result: ProbeResult): void {
  const { routing, server, mailbox, acceptsAll, reason, retryAfterMs } = result;
  assert.ok(["found", "none", "null_mx", "unknown"].includes(routing), routing);
  for (const value of [server, mailbox, acceptsAll]) assert.ok(value === null || typeof value === "boolean");
  assert.ok(retryAfterMs === null || retryAfterMs > 0, "retryAfterMs must be positive");
  if (routing !== "found")
    assert.deepEqual([server, acceptsAll], [null, null], "without routing no host was contacted");
  if (mailbox === null && routing === "found")
    assert.notEqual(reason, null, "an unknown result must have a reason");
  if (mailbox === false && routing === "found") {
    assert.ok(
      ["user_unknown", "mailbox_full", "mailbox_disabled"].includes(String(reason)),
      "an uncertain result must not be a rejection",
    );
  }
}

function answersBehaviour(it: Check): void {
  it("probe reports an existing mailbox if its host accepts it and rejects others", async (harness) => {
    const { routing, server, mailbox, acceptsAll } = await ask(harness, harness.taken);
    assert.deepEqual([routing, server, mailbox, acceptsAll], ["found", true, true, false]);
  });

  it("probe reports a missing mailbox if its host does not know it", async (harness) => {
    const { routing, server, mailbox, reason } = await ask(harness, harness.unknown);
    assert.deepEqual([routing, server, mailbox, reason], ["found", true, false, "user_unknown"]);
  });

  it("probe reports mailbox null for a domain that accepts all addresses", async (harness) => {
    const { mailbox, acceptsAll, reason } = await ask(harness, harness.ofAcceptsAll);
    assert.deepEqual([mailbox, acceptsAll, reason], [null, true, "accepts_all"]);
  });

  it("probe reports mailbox null if the host rejects this client", async (harness) => {
    const { server, mailbox, reason } = await ask(harness, harness.refusing);
    assert.deepEqual([server, mailbox, reason], [true, null, "policy"]);
  });

  it("probe distinguishes a domain without mail from a failed DNS query", async (harness) => {
    assert.equal((await ask(harness, harness.ofNoDomain)).routing, "none");
    assert.equal((await ask(harness, harness.ofNullMx)).routing, "null_mx");
    const { routing, mailbox, reason } = await ask(harness, harness.ofNoAnswer);
    assert.deepEqual([routing, mailbox, reason], ["unknown", null, "dns_failure"]);
  });

  it("probe with smtp: false contacts no mail host", async (harness) => {
    for (const address of [harness.taken, harness.unknown, harness.silent]) {
      const { routing, server, mailbox, reason } = await ask(harness, address, { smtp: false });
      assert.deepEqual([routing, server, mailbox, reason], ["found", null, null, "not_probed"]);
    }
  });

  it("simultaneous probes of one address get the same result", async (harness) => {
    const results = await Promise.all(Array.from({ length: 5 }, () => ask(harness, harness.unknown)));
    for (const { mailbox, reason } of results) assert.deepEqual([mailbox, reason], [false, "user_unknown"]);
  });
}

function endBehaviour(it: Check): void {
  it("probe resolves at once with the known results when its signal aborts", async (harness) => {
    const controller = new AbortController();
    const result = ask(harness, harness.silent, { signal: controller.signal });
    await delay(500);
    const { mailbox, reason } = await promptly(() => {
      controller.abort();
      return result;
    });
    assert.deepEqual([mailbox, reason], [null, "timeout"]);
  });

  it("probe with an already aborted signal contacts no host", async (harness) => {
    const { mailbox, reason } = await promptly(() =>
      ask(harness, harness.taken, { signal: AbortSignal.abort() }),
    );
    assert.deepEqual([mailbox, reason], [null, "timeout"]);
  });

  it("close ends running probes, and may be called twice", async (harness) => {
    const result = ask(harness, harness.silent);
    await delay(500);
    await promptly(() => harness.prober.close());
    assert.equal((await promptly(() => result)).mailbox, null);
    await harness.prober.close();
  });
}

async function promptly<T>(work: () => Promise<T>): Promise<T> {
  const begunMs = performance.now();
  const result = await work();
  const tookMs = performance.now() - begunMs;
  assert.ok(tookMs < AT_ONCE_MS, `it took ${Math.round(tookMs)} ms`);
  return result;
}
