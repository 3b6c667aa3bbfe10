import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addressFault, normaliseAddress, parseAddress } from "./parse-address.ts";

const LONG_DOMAIN = `${"d".repeat(63)}.${"d".repeat(63)}.${"d".repeat(62)}.com`;

describe("parseAddress, for an address,", () => {
  test.each([
    ["John.Smith@Example.COM", "John.Smith", "example.com", "john.smith@example.com"],
    ["o'brien+tag@mail.example.org", "o'brien+tag", "mail.example.org", "o'brien+tag@mail.example.org"],
    ["!#$%&'*+/=?^_`{|}~-@a.b", "!#$%&'*+/=?^_`{|}~-", "a.b", "!#$%&'*+/=?^_`{|}~-@a.b"],
    ["1@1.example", "1", "1.example", "1@1.example"],
    ["info@münchen.example", "info", "xn--mnchen-3ya.example", "info@xn--mnchen-3ya.example"],
    ["info@XN--MNCHEN-3YA.example", "info", "xn--mnchen-3ya.example", "info@xn--mnchen-3ya.example"],
    ["info@bücher。example", "info", "xn--bcher-kva.example", "info@xn--bcher-kva.example"],
  ])("reads %s", (text, local, domain, address) => {
    expect(parseAddress(text)).toEqual({ local, domain, address, isInternational: false });
    expect(addressFault(text)).toBeNull();
  });

  test("marks letters of other scripts before the @, and returns them in form NFC", () => {
    expect(parseAddress("Ju\u0308rgen@example.com")).toEqual({
      local: "Jürgen",
      domain: "example.com",
      address: "jürgen@example.com",
      isInternational: true,
    });
    expect(parseAddress("用户@例子.example")?.isInternational).toBe(true);
  });

  test("does not mark a character that is another form of ASCII as international", () => {
    expect(parseAddress("\u212Aelvin@example.com")).toEqual({
      local: "Kelvin",
      domain: "example.com",
      address: "kelvin@example.com",
      isInternational: false,
    });
  });

  test("accepts 64 octets before the @, and 254 in total", () => {
    expect(parseAddress(`${"a".repeat(64)}@example.com`)).not.toBeNull();
    expect(parseAddress(`${"ü".repeat(32)}@example.com`)).not.toBeNull();
    const longest = `${"a".repeat(254 - 1 - LONG_DOMAIN.length)}@${LONG_DOMAIN}`;
    expect(longest).toHaveLength(254);
    expect(parseAddress(longest)).not.toBeNull();
    expect(addressFault(`a${longest}`)).toBe("address_length");
  });
});

describe("parseAddress, for other text,", () => {
  test.each([
    ["", "no_local"],
    ["@example.com", "no_local"],
    ['"john smith"@example.com', "quoted_local"],
    [".a@example.com", "local_syntax"],
    ["a..b@example.com", "local_syntax"],
    ["a b@example.com", "local_syntax"],
    ["a@b@example.com", "local_syntax"],
    ["mailto:a@example.com", "local_syntax"],
    ["a\r\nRCPT TO:<x>@example.com", "local_syntax"],
    ["ü\u0085@example.com", "local_syntax"],
    ["ü\u202e@example.com", "local_syntax"],
    ["ü\u037e@example.com", "local_syntax"],
    [`${"a".repeat(65)}@example.com`, "local_length"],
    [`${"ü".repeat(33)}@example.com`, "local_length"],
    // 64 octets as written, 96 in lower case.
    [`${"İ".repeat(32)}@example.com`, "local_length"],
    ["a@[192.0.2.1]", "address_literal"],
    ["a@localhost", "domain_syntax"],
    ["a@example.com.", "domain_syntax"],
    ["a@-example.com", "domain_syntax"],
    ["a@exa_mple.com", "domain_syntax"],
    ["a@example.com\n", "domain_syntax"],
    ["a@example.com:25", "domain_syntax"],
    ["a@ü.example:25", "domain_syntax"],
    ["a@ü%2eexample.com", "domain_syntax"],
    ["a@example.123", "domain_syntax"],
    ["a@192.0.2.1", "domain_syntax"],
    ["a@１２７.0.0.1", "domain_syntax"],
    ["a@example.\uff11\uff12", "domain_syntax"],
    ["a@xn--a.example", "domain_syntax"],
    [`a@${"d".repeat(64)}.com`, "domain_syntax"],
    [`a@x${LONG_DOMAIN}${"x".repeat(64)}`, "domain_syntax"],
    [`a@${"ü".repeat(600)}.com`, "not_an_address"],
  ])("%j: %s", (text, fault) => {
    expect(parseAddress(text)).toBeNull();
    expect(normaliseAddress(text)).toBeNull();
    expect(addressFault(text)).toBe(fault);
  });
});

describe("parseAddress, for any text,", () => {
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 80 }),
    fc.emailAddress(),
    fc
      .tuple(fc.string({ unit: "grapheme", maxLength: 30 }), fc.string({ unit: "grapheme", maxLength: 30 }))
      .map(([local, label]) => `${local}@${label}.example`),
  );

  test("returns only addresses that are valid in a line of SMTP and within the standard's limits", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseAddress(text);
        if (parsed !== null) {
          expect(`${parsed.local}@${parsed.domain}`).not.toMatch(/[\p{Cc}\p{Cs}\p{Z}<>"(),:;[\]\\]/u);
          expect(parsed.domain).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/);
          expect(Buffer.byteLength(parsed.local)).toBeLessThanOrEqual(64);
          expect(Buffer.byteLength(parsed.address)).toBeLessThanOrEqual(254);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("returns a normalised address that normalises to itself, with the same domain", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseAddress(text);
        if (parsed !== null) {
          expect(parseAddress(parsed.address)).toMatchObject({
            domain: parsed.domain,
            address: parsed.address,
            isInternational: parsed.isInternational,
          });
        }
      }),
      { numRuns: 1000 },
    );
  });
});
