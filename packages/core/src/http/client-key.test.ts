import { describe, expect, test } from "vitest";
import { clientAddress, clientKey } from "./client.ts";

test.each([
  ["203.0.113.9", "203.0.113.9"],
  ["::ffff:203.0.113.9", "203.0.113.9"],
  ["::ffff:cb00:7109", "203.0.113.9"],
  ["64:ff9b::203.0.113.9", "203.0.113.9"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
  ["2001:DB8:1:2::1", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["::", "0:0:0:0::/64"],
])("clientKey counts %s as %s", (address, key) => {
  expect(clientKey(address)).toBe(key);
});

describe.each([
  ["203.0.113.9", ["203.0.113.9:1001", "203.0.113.9:65535", "203.0.113.9:", "203.0.113.9:_obfuscated"]],
  ["203.0.113.9", [" 203.0.113.9 ", "\t203.0.113.9:80", '"203.0.113.9:80"', "for=203.0.113.9;proto=https"]],
  ["203.0.113.9", ['For="203.0.113.9:80"', "for = 203.0.113.9", "[::ffff:203.0.113.9]:443"]],
  [
    "2001:db8:0:0::/64",
    ["[2001:db8::1]:443", "[2001:db8::1]", '"[2001:db8::1]:443"', "[2001:db8::1%eth0]:1"],
  ],
  [
    "2001:db8:0:0::/64",
    ["for=[2001:db8::1]:443", 'for="[2001:db8::1]"', "2001:db8::1%25eth0", "2001:db8::1:50321"],
  ],
  ["2001:db8:1:2::/64", ["2001:db8:1:2:3:4:5:6:443"]],
  ["fe80:0:0:0::/64", ["fe80::1%eth0", "fe80::1%eth0:1", "fe80::2%1"]],
])("clientKey counts as %s", (key, spellings) => {
  test.each(spellings)("the spelling %j", (text) => {
    expect(clientKey(text)).toBe(key);
  });
});

const NO_ADDRESSES = [
  ...[
    "",
    " ",
    ":",
    "unknown",
    "_hidden",
    "no:address",
    "owner anna",
    "localhost",
    "203.0.113",
    "203.0.113.256",
  ],
  ...[
    "203.0.113.09",
    "203.0.113.9, 198.51.100.7",
    "203.0.113.9:80:80",
    "[203.0.113.9]:80",
    "[2001:db8::1",
    "[]",
  ],
  ...["2001:db8::1]", "[2001:db8::1]443", "2001:db8::g", "12345::1", "%eth0", "for=", "1".repeat(5000)],
];
test.each(NO_ADDRESSES)("clientKey counts %j with all clients that have no valid address", (text) => {
  expect([clientKey(text), clientAddress(text)]).toEqual(["unknown", null]);
});

test("clientAddress gives each address one spelling, and neighbours of one /64 different ones", () => {
  const spellings = ["2001:db8::1", "[2001:0DB8:0::0001]:443", "2001:db8::1%eth0"];
  expect(new Set(spellings.map(clientAddress))).toEqual(new Set(["2001:db8:0:0:0:0:0:1"]));
  expect(clientAddress("2001:db8::2")).toBe("2001:db8:0:0:0:0:0:2");
  expect(clientAddress("::ffff:203.0.113.9")).toBe("203.0.113.9");
});
