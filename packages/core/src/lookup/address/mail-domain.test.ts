import fc from "fast-check";
import { expect, test } from "vitest";
import { isMailDomain, normaliseDomain, organizationDomain } from "./mail-domain.ts";

test.each([
  ["Example.COM", "example.com"],
  ["example.com.", "example.com"],
  ["sub.example.co.uk", "sub.example.co.uk"],
  ["MÜNCHEN.de", "xn--mnchen-3ya.de"],
  ["münchen.de.", "xn--mnchen-3ya.de"],
  ["faß.de", "xn--fa-hia.de"],
  ["例え.jp", "xn--r8jz45g.jp"],
  ["3com.com", "3com.com"],
])("mailDomain of %s is %s", (text, domain) => {
  expect(normaliseDomain(text)).toBe(domain);
});

test("normaliseDomain returns null for what is no domain of mail", () => {
  const texts =
    "|.|com|example.com..|https://example.com|example.com/|example.com:80|user@example.com|192.0.2.1|1.2|" +
    "[2001:db8::1]|2001:db8::1|exa mple.com|ex%61mple.com|ü\u00ad|a.\u00ad";
  for (const text of [...texts.split("|"), `${"ü".repeat(64)}.com`]) {
    expect(normaliseDomain(text), text).toBeNull();
  }
});

test("a normalised domain is a mail domain, and normalising it changes nothing", () => {
  const texts = fc.oneof(
    fc.domain(),
    fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => `${text}.example`),
    fc.string({ unit: "binary", maxLength: 60 }),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const domain = normaliseDomain(text);
      if (domain !== null) {
        expect(isMailDomain(domain)).toBe(true);
        expect(normaliseDomain(domain)).toBe(domain);
        expect(normaliseDomain(domain.toUpperCase())).toBe(domain);
      }
    }),
    { numRuns: 1000 },
  );
});

test("organizationDomain takes the domain of a URL, an address and a host name with www. and a port", () => {
  const texts =
    "acme.example|www.acme.example|WWW.Acme.Example.|https://acme.example|https://www.acme.example/|http://acme.example:8080/team|" +
    "//acme.example/a@b|acme.example:443|acme.example/team?q=a@b.c#x|@acme.example|ann@acme.example|mailto:ann@acme.example?subject=x|" +
    " https://user:secret@www.acme.example/ |ftp://acme.example#top|Ada <ada@acme.example>|acme.example,|Ada <ada@www.acme.example>, ";
  for (const text of texts.split("|")) expect(organizationDomain(text), text).toBe("acme.example");
  expect(organizationDomain("https://www.bücher.example/")).toBe("xn--bcher-kva.example");
  expect(organizationDomain("www.example")).toBe("www.example");
  expect(organizationDomain("www2.acme.example")).toBe("www2.acme.example");
});

test("organizationDomain returns null for a text without a domain", () => {
  const texts =
    "|@|https://|https:///acme.example|acme|https://192.0.2.1/|http://[::1]:80/|acme.example:port|acme.example:|a b.example|" +
    "acme.example other.example|https:acme.example|ann@|www.|/acme.example";
  for (const text of texts.split("|")) expect(organizationDomain(text), text).toBeNull();
});
