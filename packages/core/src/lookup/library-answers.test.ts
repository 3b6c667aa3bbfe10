import { expect, test } from "vitest";
import { siteOf } from "../../test/lookup-library-site.ts";
import type { Lookup } from "./lookup.ts";

const CASES: [string, string, (lookup: Lookup) => Promise<unknown>][] = [
  ["domain-search", "domain=example.com", (it) => it.searchDomain({ domain: "example.com" })],
  ["domain-search", "domain=%20Example.COM", (it) => it.searchDomain({ domain: " Example.COM" })],
  ["domain-search", "company=exAMPLE", (it) => it.searchDomain({ company: "exAMPLE" })],
  ["domain-search", "company=Unknown", (it) => it.searchDomain({ company: "Unknown" })],
  [
    "domain-search",
    "domain=example.com&type=personal&seniority=executive,junior&department=it&limit=1&offset=0",
    (it) =>
      it.searchDomain({
        ...{ domain: "example.com", type: "personal", limit: 1, offset: 0 },
        ...{ seniority: ["executive", "junior"], department: ["it"] },
      }),
  ],
  [
    "domain-search",
    "domain=example.com&required_field=full_name,position&verification_status=unknown;valid&job_titles=CTO,analyst",
    (it) =>
      it.searchDomain({
        ...{ domain: "example.com", requiredField: ["position", "full_name"], jobTitles: ["CTO", "analyst"] },
        verificationStatus: ["valid", "unknown"],
      }),
  ],
  [
    "domain-search",
    "domain=example.com&seniority=&offset=5",
    (it) => it.searchDomain({ domain: "example.com", seniority: [], offset: 5 }),
  ],
  [
    "email-finder",
    "domain=example.com&first_name=Ada&last_name=Lovelace",
    (it) => it.findEmail({ domain: "example.com", firstName: "Ada", lastName: "Lovelace" }),
  ],
  [
    "email-finder",
    "company=Example&full_name=Alan%20Turing&max_duration=3",
    (it) => it.findEmail({ company: "Example", fullName: "Alan Turing", maxDurationMs: 3000 }),
  ],
  [
    "email-finder",
    "domain=webmail.example&full_name=Alan%20Turing",
    (it) => it.findEmail({ domain: "webmail.example", fullName: "Alan Turing" }),
  ],
  ["email-verifier", "email=Ada.Lovelace@example.com", (it) => it.verifyEmail("Ada.Lovelace@example.com")],
  ["email-verifier", "email=%20a@webmial.example%20", (it) => it.verifyEmail(" a@webmial.example ")],
  ["email-verifier", "email=a..b@example.com", (it) => it.verifyEmail("a..b@example.com")],
  ["email-verifier", "email=a@trash.example", (it) => it.verifyEmail("a@trash.example")],
  ["email-count", "domain=example.com", (it) => it.countEmails({ domain: "example.com" })],
  [
    "email-count",
    "domain=example.com&type=generic",
    (it) => it.countEmails({ domain: "example.com", type: "generic" }),
  ],
];

test.each(CASES)(
  "the library call for %s?%s returns exactly the body of the HTTP reply",
  async (operation, search, call) => {
    for (const networkNames of [undefined, { a: "work", b: "chat" }]) {
      const site = await siteOf(networkNames === undefined ? {} : { networkNames });
      const { status, text } = await site.get(operation, search);
      expect(status).toBe(200);
      expect(JSON.stringify(await call(site.lookup))).toBe(text);
    }
  },
);
