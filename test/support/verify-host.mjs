// One of several processes on one lookup database, which verifies addresses with the mail servers of the test.
import { createServer } from "node:http";
import { createLookup } from "@outrigger/core";
import { specialAddresses } from "@outrigger/core/stores";
import { nodeListener } from "@outrigger/node";
import {
  createSqlAccounts,
  createSqlContactSource,
  createSqlSuppressionList,
  openDatabase,
} from "@outrigger/sql";
import { createProber } from "../../packages/verifier/dist/mail-prober.js";
import { readProberOptions } from "../../packages/verifier/dist/prober-options.js";
import { announce, endWithParent } from "./host-process.mjs";

const [url, dns, port] = process.argv.slice(2);

const database = openDatabase({ url, timeoutMs: 20_000 });
const lookup = createLookup({
  contacts: createSqlContactSource(database),
  accounts: createSqlAccounts(database),
  suppressions: createSqlSuppressionList(database),
  secret: "0123456789abcdef0123456789abcdef",
  plans: { large: { searches: 1, verifications: 1_000_000 } },
  requestsPerSecond: false,
  prober: createProber({
    ...readProberOptions({
      smtp: { helo: "probe.outrigger.test", mailFrom: "postmaster@outrigger.test" },
      dnsServers: [dns],
      forbidden: specialAddresses(["127.0.0.0/8"]),
    }),
    port: Number(port),
    replyMs: 20_000,
    // The line before the mail host is soon too long.
    budget: { sessions: 4, questionsPerMinute: 100_000, maxWaitMs: 50 },
  }),
});
endWithParent();
announce(createServer(nodeListener(lookup)));
