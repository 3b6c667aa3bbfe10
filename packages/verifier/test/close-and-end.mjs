// Probes the given addresses and closes the prober while some probes are under way. The process must then end
// by itself.

import { specialAddresses } from "@outrigger/core/stores";
import { createMailProber } from "@outrigger/verifier";

const [dnsServer = "", port = "", ...addresses] = process.argv.slice(2);
const longMs = 600_000;
const prober = createMailProber({
  smtp: { helo: "probe.outrigger.test", mailFrom: "postmaster@outrigger.test" },
  dnsServers: [dnsServer],
  port: Number(port),
  forbidden: specialAddresses(["127.0.0.0/8"]),
  dnsMs: longMs,
  connectMs: longMs,
  replyMs: longMs,
  wholeMs: longMs,
  budget: { sessions: 1, maxWaitMs: longMs },
});

const { signal } = new AbortController();
const asked = addresses.map(async (address) => {
  const [local = "", domain = ""] = address.split("@");
  const { reason } = await prober.probe(local, domain, { smtp: true, signal });
  return `${address} ${reason}`;
});
process.stdin.once("data", async () => {
  process.stdin.destroy();
  await prober.close();
  for (const line of await Promise.all(asked)) console.log(line);
});
