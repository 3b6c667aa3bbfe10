/**
 * Measures the mail prober against a mail server and a name server on this machine, and the lists: `node
 * bench/verifier.mjs`. The servers run in a process of their own.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { startMailPeers } from "./src/mail-peers.mjs";
import { describeMachine } from "./src/report.mjs";

/** @import { MailPeers } from "./src/mail-peers.mjs" */

const PROBES = 3000;
const CONCURRENCY = 50;
const LOOK_UPS = 2_000_000;

if (process.send !== undefined) {
  process.send(await startMailPeers());
} else {
  await measure();
}

async function measure() {
  console.log(await describeMachine());
  await measureLists();
  const peers = fork(new URL(import.meta.url));
  try {
    const [ports] = await once(peers, "message");
    await measureProbes("mailboxes of one domain", ports, (index) => [`user${index}`, "one.test"]);
    await measureProbes("each of a domain of its own", ports, (index) => ["alice", `d${index}.test`]);
  } finally {
    peers.kill();
  }
}

/**
 * @param {string} name
 * @param {MailPeers} ports
 * @param {(index: number) => [local: string, domain: string]} address
 */
async function measureProbes(name, { dnsPort, mailPort }, address) {
  const { createMailProber, specialAddresses } = await import("@outrigger/verifier");
  const prober = createMailProber({
    smtp: { helo: "bench.outrigger.test", mailFrom: "" },
    dnsServers: [`127.0.0.1:${dnsPort}`],
    port: mailPort,
    forbidden: specialAddresses(["127.0.0.0/8"]),
    budget: { sessions: CONCURRENCY, questionsPerMinute: 1_000_000, maxWaitMs: 60_000 },
  });
  /** @type {Map<string, number>} */
  const reasons = new Map();
  let next = 0;
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (next < PROBES) {
        const [local, domain] = address(next++);
        const { mailbox, reason } = await prober.probe(local, domain, {
          smtp: true,
          signal: new AbortController().signal,
        });
        const key = reason ?? `mailbox ${mailbox}`;
        reasons.set(key, (reasons.get(key) ?? 0) + 1);
      }
    }),
  );
  const seconds = (performance.now() - startMs) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  await prober.close();
  const cost = ((user + system) / PROBES / 1000).toFixed(2);
  const told = [...reasons].map(([reason, count]) => `${count} ${reason}`).join(", ");
  console.log(
    `${name}: ${Math.round(PROBES / seconds)} probes/s at ${CONCURRENCY} at once, ${cost} ms of CPU each (${told})`,
  );
}

async function measureLists() {
  const before = process.memoryUsage().rss;
  const startMs = performance.now();
  // Imported only here, because the lists are in memory once loaded.
  const { createMailLists } = await import("@outrigger/verifier");
  const lists = createMailLists();
  const made = (performance.now() - startMs).toFixed(0);
  const grown = ((process.memoryUsage().rss - before) / 2 ** 20).toFixed(1);
  console.log(
    `lists: loaded in ${made} ms, ${grown} MB; the process has ${Math.round(process.memoryUsage().rss / 2 ** 20)} MB`,
  );
  const domains = Array.from(
    { length: 1000 },
    (_, index) => ["gmail.com", "a.mailinator.com", "gmial.com"][index % 4] ?? `mail.company${index}.example`,
  );
  for (const [name, ask] of Object.entries({
    isWebmail: lists.isWebmail,
    isDisposable: lists.isDisposable,
    suggestDomain: lists.suggestDomain,
  })) {
    let found = 0;
    const begunMs = performance.now();
    for (let index = 0; index < LOOK_UPS; index++) {
      const answer = ask(domains[index % domains.length] ?? "");
      if (answer) found++;
    }
    const perSecond = LOOK_UPS / ((performance.now() - begunMs) / 1000);
    console.log(`${name}: ${(perSecond / 1e6).toFixed(1)} million/s (${found} of ${LOOK_UPS} found)`);
  }
}
