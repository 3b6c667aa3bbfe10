import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { OPERATIONS, type OperationName, requireDocumented } from "./documented-answer.ts";
import { type LookupSite, startLookupSite } from "./lookup-site.ts";
import { VALID } from "./odd-questions.ts";
import { ODD_VALUES, UNREADABLE } from "./odd-values.ts";

const RUNS = 400;

let site: LookupSite;
beforeAll(async () => {
  site = await startLookupSite({
    networkNames: { a: "linkedin", b: "twitter" },
    plans: { free: { searches: false, verifications: false } },
  });
  await site.lookup.suppress("left.out@example.com");
  await site.lookup.suppress("left.example");
});
afterAll(async () => {
  expect(site.errors).toEqual([]);
  await site.close();
});

const NAMES = [
  ...["domain", "company", "type", "seniority", "department", "limit", "offset"],
  ...["required_field", "verification_status", "job_titles", "location"],
  ...["first_name", "last_name", "full_name", "email", "max_duration", "api_key"],
];
const GOOD_VALUES = [
  ...[
    "example.com",
    "m%C3%BCller.example",
    "left.example",
    "Example%20Works",
    "personal",
    "generic",
    "senior,junior",
  ],
  ...[
    "it,sales",
    "full_name,position",
    "valid;unknown",
    "1",
    "10",
    "100",
    "3",
    "20",
    "Ada",
    "Lovelace",
    "Ada%20Lovelace",
    "van%20der%20Berg",
    "test-api-key",
  ],
  ...["ada.lovelace@example.com", "left.out@example.com", "a+b@example.com", ""],
];

/** Any characters allowed in a request line: valid, invalid and broken percent-encoding. */
const rawText = fc.string({
  unit: fc.constantFrom(..."%%%%0123456789abcdefABCDEFxyz+&=;,.@-_~!$'()*/?:[]|^`{}\\"),
  maxLength: 60,
});
const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...GOOD_VALUES) },
  { weight: 2, arbitrary: fc.constantFrom(...Object.values(ODD_VALUES), ...Object.values(UNREADABLE)) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 80 }).map(encodeURIComponent) },
  { weight: 1, arbitrary: fc.emailAddress().map(encodeURIComponent) },
  { weight: 1, arbitrary: fc.domain() },
  { weight: 1, arbitrary: fc.double().map(String) },
  { weight: 1, arbitrary: rawText },
);
const name = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 1, arbitrary: fc.constantFrom(...NAMES).map((known) => `${known}[]`) },
  { weight: 1, arbitrary: rawText },
);
const parameters = fc
  .array(fc.tuple(name, value), { maxLength: 8 })
  .map((pairs) => pairs.map(([key, text]) => `${key}=${text}`).join("&"));
/** Arbitrary text, and half of the time a valid request with an addition. */
function queryOf(operation: OperationName): fc.Arbitrary<string> {
  const valid = Object.entries(VALID[operation]).map((pair) => pair.join("="));
  const nearlyRight = parameters.map((more) => [...valid, more].join("&"));
  return fc.oneof(parameters, rawText, nearlyRight, nearlyRight);
}

/** The echoed values of each parameter, wherever it occurs. */
const IS_NUMBER: ReadonlySet<string> = new Set(["offset", "max_duration"]);

test.each(OPERATIONS)(
  "%s answers every query in a documented form",
  { timeout: 180_000 },
  async (operation) => {
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(queryOf(operation), async (search) => {
        const answer = await site.get(operation, search);
        requireDocumented(operation, answer, search);
        requireTypes(operation, answer.body.meta?.params, search);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      }),
      { numRuns: RUNS },
    );
    // If every query were refused, the test would prove nothing.
    expect(statuses.get(200) ?? 0).toBeGreaterThan(RUNS / 20);
  },
);

test("every path below v2 gets a reply in the API's form", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(rawText, async (path) => {
      const url = `${site.base}/v2/${path.replaceAll("?", "%3F").replaceAll("\\", "%5C")}`;
      // A client that normalises dots may request another path.
      fc.pre(new URL(url).pathname.startsWith("/people/v2/"));
      const { status, body } = await ask(url);
      expect([status, body.errors?.[0]?.code]).toEqual([404, 404]);
    }),
    { numRuns: 200 },
  );
});

function requireTypes(operation: OperationName, params: unknown, label: string): void {
  if (params === undefined) return;
  for (const [key, echoed] of Object.entries(Object(params))) {
    const type = echoed === null ? "null" : typeof echoed;
    const types = IS_NUMBER.has(key) ? ["number", "null"] : ["string", "null"];
    expect(types, `${operation} ${key} in ${label}`).toContain(type);
  }
}
