import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { MailProber, ProbeResult } from "../contracts/mail-prober.ts";
import type { ConformanceTest } from "./conformance-test.ts";

/** A local part and a domain, as {@link MailProber} takes them. */
export type ProbedAddress = readonly [local: string, domain: string];

/** A prober, and addresses about whose mail hosts it can ask. */
export interface MailProberHarness {
  prober: MailProber;
  /** Its host takes it, and not others of the domain. */
  taken: ProbedAddress;
  /** Its host says that there is no such mailbox. */
  unknown: ProbedAddress;
  /** Its host takes any address of the domain. */
  ofAcceptsAll: ProbedAddress;
  /** Its host refuses us by our address. */
  refusing: ProbedAddress;
  /** Its host does not answer; whoever waits for it waits for at least 5 s. */
  silent: ProbedAddress;
  /** Its domain does not exist. */
  ofNoDomain: ProbedAddress;
  /** Its domain says that it takes no mail (RFC 7505). */
  ofNullMx: ProbedAddress;
  /** Of its domain the DNS says nothing, or that it failed. */
  ofNoAnswer: ProbedAddress;
  close(): Promise<void>;
}

/** How late an answer may be that is due at once. */
const AT_ONCE_MS = 3000;

/**
 * What every {@link MailProber} must do.
 *
 * @param test The `test` or `it` of any runner, whose time limit should be at least 30 s.
 * @param create Makes a prober with everything it asks; the prober is closed with it.
 */
export function mailProberContract(test: ConformanceTest, create: () => Promise<MailProberHarness>): void {
  function check(name: string, body: (harness: MailProberHarness) => Promise<void>): void {
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
  answersBehaviour(check);
  endBehaviour(check);
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

/** What holds for whatever was found out. */
function assertSound(result: ProbeResult): void {
  const { routing, server, mailbox, acceptsAll, reason, retryAfterMs } = result;
  assert.ok(["found", "none", "null_mx", "unknown"].includes(routing), routing);
  for (const value of [server, mailbox, acceptsAll]) assert.ok(value === null || typeof value === "boolean");
  assert.ok(retryAfterMs === null || retryAfterMs > 0, "a wait is of some length");
  if (routing !== "found")
    assert.deepEqual([server, acceptsAll], [null, null], "nobody was there to be asked");
  if (mailbox === null && routing === "found")
    assert.notEqual(reason, null, "what is not known has a reason");
  if (mailbox === false && routing === "found") {
    assert.ok(
      ["user_unknown", "mailbox_full", "mailbox_disabled"].includes(String(reason)),
      "doubt is no refusal",
    );
  }
}

function answersBehaviour(check: Check): void {
  check("a mailbox that is taken, and others that are not, is there", async (harness) => {
    const { routing, server, mailbox, acceptsAll } = await ask(harness, harness.taken);
    assert.deepEqual([routing, server, mailbox, acceptsAll], ["found", true, true, false]);
  });

  check("a mailbox that its host does not know is not there", async (harness) => {
    const { routing, server, mailbox, reason } = await ask(harness, harness.unknown);
    assert.deepEqual([routing, server, mailbox, reason], ["found", true, false, "user_unknown"]);
  });

  check("of a domain that accepts all, no mailbox is known", async (harness) => {
    const { mailbox, acceptsAll, reason } = await ask(harness, harness.ofAcceptsAll);
    assert.deepEqual([mailbox, acceptsAll, reason], [null, true, "accepts_all"]);
  });

  check("a host that refuses us says nothing of the mailbox", async (harness) => {
    const { server, mailbox, reason } = await ask(harness, harness.refusing);
    assert.deepEqual([server, mailbox, reason], [true, null, "policy"]);
  });

  check("a domain without mail is told from one that could not be asked about", async (harness) => {
    assert.equal((await ask(harness, harness.ofNoDomain)).routing, "none");
    assert.equal((await ask(harness, harness.ofNullMx)).routing, "null_mx");
    const { routing, mailbox, reason } = await ask(harness, harness.ofNoAnswer);
    assert.deepEqual([routing, mailbox, reason], ["unknown", null, "dns_failure"]);
  });

  check("where only the DNS is to be asked, no host is", async (harness) => {
    for (const address of [harness.taken, harness.unknown, harness.silent]) {
      const { routing, server, mailbox, reason } = await ask(harness, address, { smtp: false });
      assert.deepEqual([routing, server, mailbox, reason], ["found", null, null, "not_probed"]);
    }
  });

  check("many who ask the same at once get the same", async (harness) => {
    const results = await Promise.all(Array.from({ length: 20 }, () => ask(harness, harness.unknown)));
    for (const { mailbox, reason } of results) assert.deepEqual([mailbox, reason], [false, "user_unknown"]);
  });
}

function endBehaviour(check: Check): void {
  check("who gives up gets at once what is known", async (harness) => {
    const controller = new AbortController();
    const result = ask(harness, harness.silent, { signal: controller.signal });
    await delay(500);
    const { mailbox, reason } = await promptly(() => {
      controller.abort();
      return result;
    });
    assert.deepEqual([mailbox, reason], [null, "timeout"]);
  });

  check("who has given up already asks nothing", async (harness) => {
    const { mailbox, reason } = await promptly(() =>
      ask(harness, harness.taken, { signal: AbortSignal.abort() }),
    );
    assert.deepEqual([mailbox, reason], [null, "timeout"]);
  });

  check("when it is closed, what is under way ends; closing twice is closing", async (harness) => {
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
