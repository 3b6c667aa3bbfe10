import { expect, test } from "vitest";
import { type MailProberOptions, readProberOptions } from "./prober-options.ts";

test.each<MailProberOptions>([
  { smtp: { helo: "localhost", mailFrom: "" } },
  { smtp: { helo: "mail.example.com\r\nDATA", mailFrom: "" } },
  { smtp: { helo: "mail.example.com", mailFrom: "me" } },
  { smtp: { helo: "mail.example.com", mailFrom: "me@example.com>\r\nDATA" } },
  { dnsServers: ["dns.example"] },
])("createMailProber rejects the options %j", (options) => {
  expect(() => readProberOptions(options)).toThrow(TypeError);
});

test("dnsServers accepts addresses with and without a port", () => {
  const dnsServers = [
    "192.0.2.53",
    "192.0.2.53:5353",
    "2001:db8::53",
    "[2001:db8::53]",
    "[2001:db8::53]:5353",
  ];
  expect(readProberOptions({ dnsServers }).dnsServers).toEqual(dnsServers);
  expect(readProberOptions({}).smtp).toBeNull();
});
