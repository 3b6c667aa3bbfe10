import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exchange } from "../hostile/raw-http.ts";
import { ask, refusalOf } from "./ask.ts";
import { type OddSite, startOddSite } from "./odd-questions.ts";
import { ODD_VALUES, UNREADABLE } from "./odd-values.ts";

let site: OddSite;
beforeAll(async () => {
  site = await startOddSite();
});
afterAll(async () => {
  expect(site.errors).toEqual([]);
  await site.close();
});

describe("api_key", () => {
  test.each(Object.entries(ODD_VALUES))("%s as api_key answers 401", async (_, value) => {
    expect(refusalOf(await ask(`${site.base}/v2/account?api_key=${value}`))).toEqual([
      401,
      "authentication_failed",
    ]);
  });

  test.each(Object.entries(UNREADABLE))("%s as api_key answers 400 wrong_params", async (_, value) => {
    expect(refusalOf(await ask(`${site.base}/v2/account?api_key=${value}`))).toEqual([400, "wrong_params"]);
  });

  test.each(["api_key[]", "api_key[0]", "API_KEY", "apikey"])(
    "a key in the parameter %s is ignored",
    async (name) => {
      expect((await ask(`${site.base}/v2/account?${name}=${site.key}`)).status).toBe(401);
    },
  );
});

describe("email-verifier with malformed addresses", () => {
  test.each([
    "@",
    "a@",
    "@example.com",
    "a@@example.com",
    "a@b@example.com",
    "a..b@example.com",
    ".a@example.com",
    "a@example",
    "a@-example.com",
    "a@[127.0.0.1]",
    "a@127.0.0.1",
    '"a b"@exa_mple.com',
    "a b@example.com",
    "a@example.com.",
    "a@exa_mple.com",
    `${"a".repeat(65)}@example.com`,
    `a@${"b".repeat(64)}.com`,
    `a@${"b.".repeat(130)}com`,
    "a@xn--a.com",
    "<a@example.com>",
    "a@example.com,b@example.com",
    "💩@",
    "a%b@",
  ])("%s answers 200 as undeliverable", async (email) => {
    const { status, body } = await site.askWith("email-verifier", { email: encodeURIComponent(email) });
    expect([status, body.data]).toEqual([
      200,
      expect.objectContaining({ email, regexp: false, status: "invalid", result: "undeliverable", score: 0 }),
    ]);
    expect(body.meta).toEqual({ params: { email } });
  });

  test.each([
    "a%00@example.com",
    "a@exam%0D%0Aple.com",
    "a@example.com%0ARCPT%20TO:%3Cb@example.com%3E",
    "a%7F@example.com",
    "a%C2%85@example.com",
  ])("%s is refused because of its control character", async (email) => {
    expect(refusalOf(await site.askWith("email-verifier", { email }))).toEqual([400, "invalid_email"]);
  });
});

describe("numeric parameters at their bounds", () => {
  test.each([
    ["domain-search", "limit", ["0", "1", "100", "010"], ["101", "-0"], "pagination_error"],
    ["domain-search", "offset", ["0", "1", "999999999999999"], ["9007199254740992"], "pagination_error"],
    ["email-finder", "max_duration", ["3", "20"], ["0", "2", "21"], "invalid_max_duration"],
    ["email-verifier", "max_duration", ["3", "20"], ["0", "2", "21"], "invalid_max_duration"],
  ] as const)(
    "%s: %s accepts its bounds and refuses values beyond them",
    async (operation, name, inside, outside, id) => {
      for (const value of inside) expect((await site.askWith(operation, { [name]: value })).status).toBe(200);
      for (const value of outside) {
        expect([value, ...refusalOf(await site.askWith(operation, { [name]: value }))]).toEqual([
          value,
          400,
          id,
        ]);
      }
    },
  );

  test("a page beyond the end is empty", async () => {
    const { body } = await site.askWith("domain-search", {
      domain: "example.org",
      offset: "999999999999999",
    });
    expect(body.data).toMatchObject({ domain: "example.org", emails: [] });
    expect(body.meta).toMatchObject({
      results: 20,
      offset: 999999999999999,
      params: { offset: 999999999999999 },
    });
  });
});

describe("oversized requests", () => {
  test.each(["domain-search", "email-verifier", "account", "nothing"])(
    "%s refuses a query of 64 KiB",
    async (operation) => {
      const path = `/people/v2/${operation}?api_key=${site.key}&domain=${"a".repeat(65_536)}`;
      const reply = await exchange(
        site.origin,
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      );
      // This exceeds the limit of a request line: the HTTP server itself refuses it.
      expect(reply?.status).toBe(431);
      expect((await site.get("account")).status).toBe(200);
    },
  );

  test("a thousand unknown parameters, one of them 12,000 characters long, are ignored", async () => {
    const many = Array.from({ length: 1000 }, (_, index) => `x${index}=${index}`).join("&");
    expect((await site.get("account", many)).status).toBe(200);
    expect((await site.get("account", `x=${"a".repeat(12_000)}`)).status).toBe(200);
    expect((await site.get("account", "&".repeat(10_000))).status).toBe(200);
    expect((await site.get("account", `${"=".repeat(5000)}&%00=%00&__proto__=1&constructor=2`)).status).toBe(
      200,
    );
  });

  test.each(["\xff", "\xc3\xa9", "\x80abc"])(
    "unencoded bytes beyond ASCII (%j) get a reply",
    async (bytes) => {
      for (const [name, operation] of [
        ["domain", "domain-search"],
        ["email", "email-verifier"],
        ["company", "email-count"],
      ]) {
        const path = `/people/v2/${operation}?api_key=${site.key}&${name}=${bytes}`;
        const reply = await exchange(
          site.origin,
          `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
        );
        expect([200, 400]).toContain(reply?.status);
      }
      expect((await site.get("account")).status).toBe(200);
    },
  );
});
