import { isIP } from "node:net";
import { isMailDomain } from "@outrigger/core";
import { z } from "zod";
import { limit, rule, secrets, section, whole } from "./config-rules.ts";
import { databaseUrlProblem } from "./targets/database-target.ts";

const FIELD_NAME = /^[a-z][a-z0-9_]{0,40}$/;
const HOST_NAME = /^(?=.{4,253}$)[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i;

const PLAIN_LOCAL = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}$/;

const database = z.custom<string>().superRefine((value, context) => {
  const message = databaseUrlProblem(value);
  if (message !== null) context.addIssue({ code: "custom", message });
});

const points = z.union([z.literal(false), whole(0)], { error: "must be false or a whole number from 0" });

const plans = z.record(z.string(), section({ searches: points, verifications: points }), {
  error: "must be an object",
});

const fieldName = rule(z.string(), "must be a name of a-z, 0-9 and _", (name) => FIELD_NAME.test(name));

const networkNames = section({ a: fieldName, b: fieldName }).refine(({ a, b }) => a !== b, {
  error: "must differ from a",
  path: ["b"],
});

const smtp = section({
  helo: rule(z.string(), "must be a full host name, e.g. mail.example.com", (name) => HOST_NAME.test(name)),
  mailFrom: rule(
    z.string(),
    'must be an address of yours that takes mail, or "" for the null sender',
    isSender,
  ),
});

const dnsServers = z.array(
  rule(z.string(), "must be an IP address, with or without a port", (server) => {
    return isIP(server.replace(/^\[(.*)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/, "$1$2")) !== 0;
  }),
  { error: "must be a list of IP addresses" },
);

/** The key `lookup` of a configuration. */
export const lookup = z.union(
  [
    z.literal(false),
    section({
      database: database.exactOptional(),
      secret: secrets.exactOptional(),
      smtp: smtp.exactOptional(),
      dnsServers: dnsServers.exactOptional(),
      plans: plans.exactOptional(),
      networkNames: networkNames.exactOptional(),
      requestsPerSecond: limit.exactOptional(),
    }),
  ],
  { error: "must be false or an object" },
);

/** Mail servers are spoken to in ASCII, and without quotation marks. */
function isSender(text: string): boolean {
  if (text === "") return true;
  const [, local = "", domain = ""] = /^([^@]+)@([^@]+)$/.exec(text) ?? [];
  return PLAIN_LOCAL.test(local) && isMailDomain(domain.toLowerCase());
}
