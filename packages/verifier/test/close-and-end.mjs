// Probes the given addresses and closes the prober while some probes are under way. The process must then end
// by itself.

import { specialAddresses } from "@outrigger/core/stores";
import { createProber } from "../dist/mail-prober.js";
import { readProberOptions } from "../dist/prober-options.js";

const [dnsServer = "", port = "", ...addresses] = process.argv.slice(2);
const longMs = 600_000;
const settings = readProberOptions({
  smtp: { helo: "probe.outrigger.test", mailFrom: "postmaster@outrigger.test" },
  dnsServers: [dnsServer],
  forbidden: specialAddresses(["127.0.0.0/8"]),
});
const prober = createProber({
  ...settings,
  port: Number(port),
  budget: { ...settings.budget, sessions: 1, maxWaitMs: longMs },
  ...{ replyMs: longMs, dnsMs: longMs, connectMs: longMs },
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
