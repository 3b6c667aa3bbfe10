import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusalOf } from "./ask.ts";
import { type OddSite, startOddSite, VALID } from "./odd-questions.ts";
import { ODD_VALUES, UNREADABLE } from "./odd-values.ts";

let site: OddSite;
beforeAll(async () => {
  site = await startOddSite();
});
afterAll(async () => {
  expect(site.errors).toEqual([]);
  await site.close();
});

/** A valid value of each parameter, in addition to those. */
const SOMETHING: Readonly<Record<string, string>> = {
  limit: "5",
  offset: "1",
  max_duration: "3",
  company: "Example%20Works",
  full_name: "Ada%20Lovelace",
  type: "personal",
  seniority: "senior",
  department: "it",
  required_field: "full_name",
  verification_status: "valid",
};

/** Parameters, and the error for an invalid value. */
const NUMBERS = [
  ["domain-search", "limit", "pagination_error"],
  ["domain-search", "offset", "pagination_error"],
  ["email-finder", "max_duration", "invalid_max_duration"],
  ["email-verifier", "max_duration", "invalid_max_duration"],
] as const;
const WORDS = [
  ["domain-search", "type", "invalid_type"],
  ["domain-search", "seniority", "invalid_seniority"],
  ["domain-search", "department", "invalid_department"],
  ["domain-search", "required_field", "wrong_params"],
  ["domain-search", "verification_status", "wrong_params"],
  ["email-count", "type", "invalid_type"],
] as const;
const REQUIRED = [
  ["domain-search", "domain", "invalid_domain"],
  ["email-finder", "domain", "invalid_domain"],
  ["email-count", "domain", "invalid_domain"],
  ["email-verifier", "email", "invalid_email"],
] as const;
const NAMES = ["first_name", "last_name", "full_name"] as const;
/** Some odd values of these are valid: people and companies may have many kinds of names. */
const TEXTS = [
  ["domain-search", "company"],
  ["email-finder", "company"],
  ["email-count", "company"],
  ...NAMES.map((name) => ["email-finder", name] as const),
] as const;
const ALL = [...NUMBERS, ...WORDS, ...REQUIRED, ...TEXTS].map(
  ([operation, name]) => [operation, name] as const,
);

/** Without parameters that take precedence over this one, or replace it. */
function aloneWith(name: string, value: string | null): Record<string, string | null> {
  if (name === "company") return { domain: null, company: value };
  if (name === "full_name") return { first_name: null, last_name: null, full_name: value };
  return { [name]: value };
}

describe.each(NUMBERS)("%s: %s", (operation, name, id) => {
  test("a missing, empty or blank value means the default", async () => {
    for (const value of [null, "", "%20", "+", "%09"]) {
      expect((await site.askWith(operation, { [name]: value })).status).toBe(200);
    }
  });

  test.each(Object.entries(ODD_VALUES))("%s is refused with the parameter's error", async (_, value) => {
    expect(refusalOf(await site.askWith(operation, { [name]: value }))).toEqual([400, id]);
  });
});

describe.each(WORDS)("%s: %s", (operation, name, id) => {
  test("a missing, empty or blank value is ignored", async () => {
    for (const value of [null, "", "%20"]) {
      const { status, body } = await site.askWith(operation, { [name]: value });
      expect([status, body.meta?.params]).toEqual([200, expect.objectContaining({ [name]: null })]);
    }
  });

  test.each(Object.entries(ODD_VALUES))("%s is refused with the parameter's error", async (_, value) => {
    expect(refusalOf(await site.askWith(operation, { [name]: value }))).toEqual([400, id]);
  });
});

describe.each(REQUIRED)("%s: %s", (operation, name, id) => {
  test("a missing, empty or blank value answers 400 wrong_params", async () => {
    for (const value of [null, "", "%20%20"]) {
      expect(refusalOf(await site.askWith(operation, { [name]: value }))).toEqual([400, "wrong_params"]);
    }
  });

  test.each(Object.entries(ODD_VALUES))("%s is refused with the parameter's error", async (_, value) => {
    expect(refusalOf(await site.askWith(operation, { [name]: value }))).toEqual([400, id]);
  });
});

describe.each(TEXTS)("%s: %s", (operation, name) => {
  test("a missing, empty or blank value answers 400 wrong_params", async () => {
    for (const value of [null, "", "%20%20"]) {
      const answer = await site.askWith(operation, aloneWith(name, value));
      expect(refusalOf(answer)).toEqual([400, "wrong_params"]);
    }
  });

  test.each(Object.entries(ODD_VALUES))("%s is refused, or accepted and echoed as text", async (_, value) => {
    const { status, body } = await site.askWith(operation, aloneWith(name, value));
    if (status === 200) {
      expect(body.meta?.params).toMatchObject({ [name]: decodeURIComponent(value) });
      return;
    }
    const ids = name === "company" ? ["wrong_params"] : [`invalid_${name}`];
    expect(ids).toContain(body.errors?.[0]?.id);
  });
});

describe.each(NAMES)("email-finder: %s", (name) => {
  test.each(["Ann%00", "Ann%0D%0ALee", "%00", "Ann%2042", "%D9%A3", "A", "a%20b", "..", "%F0%9F%92%A9"])(
    "%s is refused as an invalid name",
    async (value) => {
      expect(refusalOf(await site.askWith("email-finder", aloneWith(name, value)))).toEqual([
        400,
        `invalid_${name}`,
      ]);
    },
  );
});

describe.each(ALL)("%s: %s", (operation, name) => {
  test.each(Object.entries(UNREADABLE))("%s answers 400 wrong_params", async (_, value) => {
    expect(refusalOf(await site.askWith(operation, aloneWith(name, value)))).toEqual([400, "wrong_params"]);
  });

  test("the name with brackets, a dot or other case is an unknown parameter and ignored", async () => {
    const plain = await site.askWith(operation, {});
    for (const written of [
      `${name}[]`,
      `${name}[0]`,
      `${name}[a][b]`,
      `${name}%5B%5D`,
      `${name}.a`,
      name.toUpperCase(),
    ]) {
      const { status, body } = await site.askWith(operation, {}, `&${written}=%00`);
      expect({ written, status, body }).toEqual({ written, status: plain.status, body: plain.body });
    }
  });

  test("of a repeated parameter the first value counts", async () => {
    const first = { ...SOMETHING, ...VALID[operation] }[name];
    const once = await site.askWith(operation, aloneWith(name, first ?? ""));
    const twice = await site.askWith(operation, aloneWith(name, first ?? ""), `&${name}=%00&${name}=`);
    expect(twice.body).toEqual(once.body);
    expect((await site.askWith(operation, aloneWith(name, ""), `&${name}=${first}`)).body).toEqual(once.body);
  });
});
