import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../../test/support/listen.ts";
import { type MailServer, startMailServer } from "../../../test/support/mail-server.ts";
import { programs } from "../../../test/support/programs.ts";
import { IDENTITY, never, withLoopback } from "../test/mail-world.ts";
import { createProber, type VerifyingProber } from "./mail-prober.ts";
import { readProberOptions } from "./prober-options.ts";

const ZONE = [
  "--mx-host=one.test,mx.one.test,20",
  "--mx-host=one.test,down.one.test,10",
  "--host-record=mx.one.test,127.0.0.1",
  "--host-record=down.one.test,127.0.0.77",
  "--host-record=address.test,127.0.0.1",
  "--mx-host=null.test,.,0",
  "--mx-host=dangling.test,nowhere.test,10",
  "--cname=alias.test,mx.one.test",
  "--host-record=inside.test,::1",
  // NS records: `ns.test` in the form of a packet.
  ...["test", "com"].map((name) => `--dns-rr=${name},2,026e73047465737400`),
  "--local=/absent/",
];
const START_MS = 30_000;

let mail: MailServer;
let dnsmasq: ChildProcess;
let prober: VerifyingProber;

beforeAll(async () => {
  mail = await startMailServer();
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    dnsmasq = spawn(programs.dnsmasq, [
      ...["--keep-in-foreground", "--conf-file=/dev/null", "--pid-file=", `--port=${port}`],
      ...["--listen-address=127.0.0.1", "--bind-interfaces", "--no-resolv", "--no-hosts", "--no-poll"],
      ...["--local=/test/", "--user=", "--group=", ...ZONE],
    ]);
    const dnsServers = [`127.0.0.1:${port}`];
    prober = createProber({
      ...readProberOptions({ smtp: IDENTITY, dnsServers, forbidden: withLoopback() }),
      port: mail.port,
    });
    if (await answers(prober)) return;
    await prober.close();
    dnsmasq.kill("SIGKILL");
    if (attempt === 3) throw new Error("dnsmasq did not start in three attempts.");
  }
});

afterAll(async () => {
  await prober.close();
  const gone = once(dnsmasq, "exit");
  dnsmasq.kill();
  await gone;
  await mail.close();
});

async function answers(asked: VerifyingProber): Promise<boolean> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline && dnsmasq.exitCode === null) {
    const { routing } = await asked.probe("alice", "null.test", { smtp: false, signal: never() });
    if (routing === "null_mx") return true;
    await delay(50);
  }
  return false;
}

test.each([
  ["one.test", { routing: "found", server: true, mailbox: true, acceptsAll: false, reason: null }],
  ["address.test", { routing: "found", server: true, mailbox: true, reason: null }],
  ["alias.test", { routing: "found", server: true, mailbox: true, reason: null }],
  ["null.test", { routing: "null_mx", server: null, mailbox: false, reason: null }],
  ["dangling.test", { routing: "none", server: null, mailbox: false, reason: null }],
  ["missing.test", { routing: "none", server: null, mailbox: false, reason: null }],
  ["missing.absent", { routing: "none", server: null, mailbox: false, reason: null }],
  ["inside.test", { routing: "found", server: null, mailbox: null, reason: "forbidden_address" }],
  ["elsewhere.example", { routing: "unknown", mailbox: null, reason: "dns_failure" }],
])("with dnsmasq as resolver, a probe of %s returns the expected result", async (domain, expected) => {
  expect(await prober.probe("alice", domain, { smtp: true, signal: never() })).toMatchObject(expected);
});
