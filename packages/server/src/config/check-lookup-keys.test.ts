import { expect, it } from "vitest";
import { problemsOf } from "../../test/config-problems.ts";

it.each([
  [
    { lookup: true },
    "lookup: must be false or an object of options (database, secret, plans, networkNames, requestsPerSecond, verifyAtOnce, testKey, smtp, dnsServers)",
  ],
  [{ lookup: { databse: "file:x" } }, "lookup.databse: unknown key, did you mean lookup.database?"],
  [
    { lookup: { database: "mysql://u:hush@h/x" } },
    "lookup.database: must be file:path, or postgres://user:password@host:port/database",
  ],
  [
    { lookup: { database: "postgres://db.example.com" } },
    "lookup.database: must be file:path, or postgres://user:password@host:port/database",
  ],
  [
    { lookup: { database: "file:a?b" } },
    "lookup.database: must be file:path or file:///path, with special characters (% ? #) percent-encoded",
  ],
  [
    { lookup: { secret: "short" } },
    "lookup.secret: must be a text of at least 32 bytes, or a list of such texts",
  ],
  [
    { lookup: { smtp: { helo: "localhost", mailFrom: "" } } },
    "lookup.smtp.helo: must be a full host name, such as mail.example.com",
  ],
  [
    { lookup: { smtp: { helo: "mail.example.com", mailFrom: "me" } } },
    "lookup.smtp.mailFrom: must be an ASCII address or empty",
  ],
  [
    { lookup: { dnsServers: ["dns.example.com"] } },
    "lookup.dnsServers: must be a list of IP addresses with or without a port",
  ],
  [
    { lookup: { plans: { gold: { searches: -1, verifications: 1 } } } },
    "lookup.plans.gold.searches: must be false or a whole number from 0",
  ],
  [{ lookup: { networkNames: { a: "x", b: "x" } } }, "lookup.networkNames.b: must differ from a"],
  [{ lookup: { requestsPerSecond: 0 } }, "lookup.requestsPerSecond: must be false or a whole number from 1"],
])("checkConfig rejects an invalid lookup option in %j and names the key", (config, problem) => {
  expect(problemsOf(config)).toEqual([problem]);
});
