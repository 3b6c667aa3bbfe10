// One of several processes on one lookup database, which verifies lists with the mail servers of the test.
import { createServer } from "node:http";
import { createLookup } from "@outrigger/core";
import { specialAddresses } from "@outrigger/core/stores";
import { nodeListener } from "@outrigger/node";
import {
  createSqlAccounts,
  createSqlContactSource,
  createSqlSuppressionList,
  createSqlVerificationQueue,
  openDatabase,
} from "@outrigger/sql";
import { createMailProber } from "@outrigger/verifier";
import { announce, endWithParent } from "./host-process.mjs";

// `maxWaitMs`: how long a probe may wait in line before the queue takes it over.
const [url, dns, port, maxWaitMs, webhooks] = process.argv.slice(2);

const database = openDatabase({ url, timeoutMs: 20_000 });
const lookup = createLookup({
  contacts: createSqlContactSource(database),
  accounts: createSqlAccounts(database),
  suppressions: createSqlSuppressionList(database),
  verifications: createSqlVerificationQueue(database),
  secret: "0123456789abcdef0123456789abcdef",
  plans: {
    large: { searches: 1, verifications: 1_000_000 },
    small: { searches: 1, verifications: 300 },
  },
  requestsPerSecond: false,
  ...(webhooks !== undefined && { webhooks: JSON.parse(webhooks) }),
  prober: createMailProber({
    smtp: { helo: "probe.outrigger.test", mailFrom: "postmaster@outrigger.test" },
    dnsServers: [dns],
    port: Number(port),
    forbidden: specialAddresses(["127.0.0.0/8"]),
    replyMs: 20_000,
    budget: {
      ...{ sessions: 4, questionsPerMinute: 100_000 },
      ...(maxWaitMs !== undefined && { maxWaitMs: Number(maxWaitMs) }),
    },
  }),
});
endWithParent();
announce(createServer(nodeListener(lookup)));
