import { expect, test } from "vitest";
import { clientAddress, clientKey } from "./client.ts";

test("clientKey counts an IPv4 address by itself, and an IPv6 address by its /64, in every spelling of proxies", () => {
  const spellings: Record<string, string[]> = {
    "203.0.113.9": [
      ...[
        "203.0.113.9",
        "::ffff:203.0.113.9",
        "::ffff:cb00:7109",
        "64:ff9b::203.0.113.9",
        "203.0.113.9:1001",
      ],
      ...[
        "203.0.113.9:65535",
        "203.0.113.9:",
        "203.0.113.9:_obfuscated",
        " 203.0.113.9 ",
        "\t203.0.113.9:80",
      ],
      ...['"203.0.113.9:80"', "for=203.0.113.9;proto=https", 'For="203.0.113.9:80"', "for = 203.0.113.9"],
      "[::ffff:203.0.113.9]:443",
    ],
    "2001:db8:1:2::/64": [
      ...["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::1", "2001:DB8:1:2::1", "2001:db8:1:2:3:4:5:6:443"],
    ],
    "2001:db8:0:0::/64": [
      ...["2001:db8::1", "[2001:db8::1]:443", "[2001:db8::1]", '"[2001:db8::1]:443"', "[2001:db8::1%eth0]:1"],
      ...["for=[2001:db8::1]:443", 'for="[2001:db8::1]"', "2001:db8::1%25eth0", "2001:db8::1:50321"],
    ],
    "0:0:0:0::/64": ["::1", "::"],
    "fe80:0:0:0::/64": ["fe80::1%eth0", "fe80::1%eth0:1", "fe80::2%1"],
  };
  for (const [key, texts] of Object.entries(spellings)) {
    for (const text of texts) expect(clientKey(text), text).toBe(key);
  }
});

test("clientKey counts together all clients without a valid address", () => {
  const texts = [
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
  for (const text of texts) expect([clientKey(text), clientAddress(text)], text).toEqual(["unknown", null]);
});

test("clientAddress gives each address one spelling, and neighbours of one /64 different ones", () => {
  const spellings = ["2001:db8::1", "[2001:0DB8:0::0001]:443", "2001:db8::1%eth0"];
  expect(new Set(spellings.map(clientAddress))).toEqual(new Set(["2001:db8:0:0:0:0:0:1"]));
  expect(clientAddress("2001:db8::2")).toBe("2001:db8:0:0:0:0:0:2");
  expect(clientAddress("::ffff:203.0.113.9")).toBe("203.0.113.9");
});
