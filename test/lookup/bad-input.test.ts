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

/** Parameters, what a missing, empty or blank value means, and the error for an odd value. */
const CHECKED = [
  ["domain-search", "limit", "default", "pagination_error"],
  ["domain-search", "offset", "default", "pagination_error"],
  ["email-finder", "max_duration", "default", "invalid_max_duration"],
  ["email-verifier", "max_duration", "default", "invalid_max_duration"],
  ["domain-search", "type", "default", "invalid_type"],
  ["domain-search", "seniority", "default", "invalid_seniority"],
  ["domain-search", "department", "default", "invalid_department"],
  ["domain-search", "required_field", "default", "wrong_params"],
  ["domain-search", "verification_status", "default", "wrong_params"],
  ["email-count", "type", "default", "invalid_type"],
  ["domain-search", "domain", "refused", "invalid_domain"],
  ["email-finder", "domain", "refused", "invalid_domain"],
  ["email-count", "domain", "refused", "invalid_domain"],
  ["email-verifier", "email", "refused", "invalid_email"],
  ["domain-search", "company", "refused", "wrong_params"],
  ["email-finder", "company", "refused", "wrong_params"],
  ["email-count", "company", "refused", "wrong_params"],
  ["email-finder", "first_name", "refused", "invalid_first_name"],
  ["email-finder", "last_name", "refused", "invalid_last_name"],
  ["email-finder", "full_name", "refused", "invalid_full_name"],
] as const;

/** Odd values that are names: people and companies may have many kinds of them. */
const WORDS = ["undefined", "null", "NaN", "Infinity", "true", "constructor", "a member of every object"];
const NAMES = [...WORDS, "an object", "a path", "text from right to left", "a byte order mark"];
const COMPANIES = [
  ...[...NAMES, "SQL", "wildcards of SQL", "markup", "commas", "an array in JSON", "an object in JSON"],
  ...["a float", "a float that is whole", "an exponent", "a hexadecimal number"],
  ...["a huge number", "a number that only floats hold", "an astronomic number"],
];
const ACCEPTED: Readonly<Record<string, readonly string[]>> = {
  company: COMPANIES,
  first_name: NAMES,
  last_name: NAMES,
  full_name: ["an object"],
};

/** Without parameters that take precedence over this one, or replace it. */
function aloneWith(name: string, value: string | null): Record<string, string | null> {
  if (name === "company") return { domain: null, company: value };
  if (name === "full_name") return { first_name: null, last_name: null, full_name: value };
  return { [name]: value };
}

describe.each(CHECKED)("%s: %s", (operation, name, absent, id) => {
  const ask = (value: string | null, tail?: string) => site.askWith(operation, aloneWith(name, value), tail);

  test(`a missing, empty or blank value is ${absent === "default" ? "the default" : "refused as absent"}`, async () => {
    for (const value of [null, "", "%20%20", "+", "%09"]) {
      const { status, body } = await ask(value);
      if (absent === "refused") expect(refusalOf({ status, body })).toEqual([400, "wrong_params"]);
      else
        expect([value, status, body.meta?.params]).toEqual([value, 200, (await ask(null)).body.meta?.params]);
    }
  });

  test("each odd value is refused with the parameter's error, or accepted as a name and echoed", async () => {
    for (const [what, value] of Object.entries(ODD_VALUES)) {
      const { status, body } = await ask(value);
      const isName = ACCEPTED[name]?.includes(what) ?? false;
      const wanted = isName ? [what, 200, undefined] : [what, 400, id];
      expect([what, ...refusalOf({ status, body })]).toEqual(wanted);
      if (isName) expect(body.meta?.params).toMatchObject({ [name]: decodeURIComponent(value) });
    }
  });

  test("a value that cannot be decoded answers 400 wrong_params", async () => {
    for (const [what, value] of Object.entries(UNREADABLE)) {
      expect([what, ...refusalOf(await ask(value))]).toEqual([what, 400, "wrong_params"]);
    }
  });

  test("the name with brackets, a dot or other case is an unknown parameter and ignored", async () => {
    const plain = await site.askWith(operation, {});
    const brackets = ["[]", "[0]", "[a][b]", "%5B%5D", ".a"].map((suffix) => name + suffix);
    for (const written of [...brackets, name.toUpperCase()]) {
      const { status, body } = await site.askWith(operation, {}, `&${written}=%00`);
      expect({ written, status, body }).toEqual({ written, status: plain.status, body: plain.body });
    }
  });

  test("of a repeated parameter the first value that is not blank counts", async () => {
    const first = { ...SOMETHING, ...VALID[operation] }[name] ?? "";
    const once = await ask(first);
    expect((await ask(first, `&${name}=%00&${name}=`)).body).toEqual(once.body);
    expect((await ask("", `&${name}=${first}`)).body).toEqual(once.body);
  });
});

test("an empty text beside a number or a word is echoed as null", async () => {
  const words = ["type", "seniority", "department", "required_field", "verification_status"];
  const { body } = await site.askWith(
    "domain-search",
    Object.fromEntries(words.map((name) => [name, "%20"])),
  );
  expect(body.meta?.params).toMatchObject(Object.fromEntries(words.map((name) => [name, null])));
});

test.each(["first_name", "last_name", "full_name"])(
  "a wrong %s is refused as an invalid name",
  async (name) => {
    const wrong = ["Ann%00", "Ann%0D%0ALee", "%00", "Ann%2042", "%D9%A3", "A", "a%20b", "..", "%F0%9F%92%A9"];
    for (const value of wrong) {
      const answer = await site.askWith("email-finder", aloneWith(name, value));
      expect([value, ...refusalOf(answer)]).toEqual([value, 400, `invalid_${name}`]);
    }
  },
);
