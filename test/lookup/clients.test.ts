import assert from "node:assert/strict";
import type { LookupOptions } from "@outrigger/core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { readDeclaredShapes, requireShape, type Shape } from "./declared-shape.ts";
import * as documented from "./documented-fields.ts";
import { type LookupSite, startLookupSite } from "./lookup-site.ts";
import { crowdOf, PEOPLE } from "./people.ts";
import { hunterDotIo, hunterio, nodeHunterio, outcomeOf } from "./third-party-clients.ts";

const OPTIONS = {
  networkNames: { a: "linkedin", b: "twitter" },
  known: [...PEOPLE, ...crowdOf("crowd.example", 150)],
  mountPath: "/tools/people",
};
const ADA = { first_name: "Ada", last_name: "Lovelace" };
/** A person who asked to be removed. */
const CLAIMED = "left.out@example.com";

const NO_USER = {
  errors: [{ id: "authentication_failed", code: 401, details: "No user found for the API key supplied" }],
};
const refusal = (id: string, code: number) => ({ errors: [{ id, code, details: expect.any(String) }] });

let shapes: ReadonlyMap<string, Shape>;
beforeAll(async () => {
  shapes = await readDeclaredShapes();
});

function shapeOf(name: string): Shape {
  const shape = shapes.get(name);
  assert.ok(shape, `${name} is not declared`);
  return shape;
}

/** Without the fields that the client declares but no server of this API returns. */
function shapeWithout(name: string, field: string, missing: readonly string[]): Shape {
  const shape = shapeOf(name);
  assert.ok(typeof shape === "object" && "fields" in shape);
  const inner = shape.fields.get(field);
  assert.ok(typeof inner === "object" && "fields" in inner);
  const kept = new Map([...inner.fields].filter(([key]) => !missing.includes(key)));
  assert.equal(kept.size, inner.fields.size - missing.length);
  return { fields: new Map([...shape.fields, [field, { fields: kept }]]) };
}

describe("third-party clients", () => {
  let site: LookupSite;
  let poor: LookupSite;

  beforeAll(async () => {
    site = await startLookupSite(OPTIONS);
    await site.lookup.suppress(CLAIMED);
    const nothing: LookupOptions["plans"] = { free: { searches: 0, verifications: 0 } };
    poor = await startLookupSite({ ...OPTIONS, plans: nothing });
  });
  afterAll(async () => {
    expect(site.errors).toEqual([]);
    await Promise.all([site.close(), poor.close()]);
  });

  describe("node-hunterio", () => {
    test("the client gets every field that it declares, with its type", async () => {
      const client = nodeHunterio(site.base, site.key);
      const search = requireShape(await client.searchDomain("example.com"), shapeOf("DomainSearchResponse"));
      expect(search).toContain("data.emails[].sources[].still_on_page");
      expect(search).toHaveLength(29);
      const sought = { ...ADA, domain: "example.com", company: "", full_name: "" };
      // The client declares an entry of a domain search as the finder's reply.
      const missing = ["value", "type", "confidence", "seniority", "department"];
      const found = await client.findEmail(sought);
      requireShape(found, shapeWithout("FindEmailResponse", "data", missing));
      expect(found.data).toMatchObject({ ...ADA, email: "ada.lovelace@example.com", score: 94 });
      requireShape(
        await client.verifyEmail({ email: "ada.lovelace@example.com" }),
        shapeOf("VerifyEmailResponse"),
      );
      requireShape(await client.getEmailCount({ domain: "example.com" }), shapeOf("EmailCountResponse"));
      requireShape(
        await client.getEmailCount({ company: "Example Works", type: "personal" }),
        shapeOf("EmailCountResponse"),
      );
      requireShape(await client.getAccountInformation(), shapeOf("AccountInformationResponse"));
    });
    test("the client throws refusals with the reply", async () => {
      // It writes every error to the console.
      const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
      try {
        const client = nodeHunterio(site.base, site.key);
        const stranger = nodeHunterio(site.base, "unknown key");
        expect(await outcomeOf(stranger.getAccountInformation())).toEqual({
          refusal: { status: 401, body: NO_USER },
        });
        expect(await outcomeOf(client.searchDomain("no domain"))).toEqual({
          refusal: { status: 400, body: refusal("invalid_domain", 400) },
        });
        expect(await outcomeOf(client.verifyEmail({ email: CLAIMED }))).toEqual({
          refusal: { status: 451, body: refusal("claimed_email", 451) },
        });
        expect(await outcomeOf(client.listLeads())).toEqual({
          refusal: { status: 501, body: refusal("not_implemented", 501) },
        });
        const spent = nodeHunterio(poor.base, poor.key);
        expect(await outcomeOf(spent.searchDomain("example.com"))).toEqual({
          refusal: { status: 429, body: refusal("too_many_requests", 429) },
        });
      } finally {
        log.mockRestore();
      }
    });
  });

  describe("hunterio", () => {
    test("the client gets every documented field, and pages by numbers", async () => {
      const call = hunterio(site.base, site.key);
      const search = await call("domainSearch", { domain: "crowd.example", limit: 100, offset: 100 });
      expect(search.status).toBe(200);
      expect(search.body).toMatchObject({ meta: { results: 150, limit: 100, offset: 100 } });
      const { data } = read(search.body);
      expect(data.emails).toHaveLength(50);
      requireKeys(read((await call("domainSearch", { domain: "example.com" })).body));
      expect(
        Object.keys(read((await call("emailFinder", { ...ADA, domain: "example.com" })).body).data),
      ).toEqual(expect.arrayContaining(documented.FINDER_DATA));
      expect(
        Object.keys(read((await call("emailVerifier", { email: "a+b@example.com" })).body).data),
      ).toEqual(expect.arrayContaining(documented.VERIFIER_DATA));
      expect(Object.keys(read((await call("emailCount", { domain: "example.com" })).body).data)).toEqual(
        documented.COUNT_DATA,
      );
      expect(Object.keys(read((await call("account")).body).data)).toEqual(documented.ACCOUNT_DATA);
    });

    test("a plus sign sent by the client arrives as a plus sign", async () => {
      const { body } = await hunterio(site.base, site.key)("emailVerifier", { email: "a+b@example.com" });
      expect(body).toMatchObject({ data: { email: "a+b@example.com", regexp: true } });
    });

    test("the client returns refusals as bodies, and its literal `undefined` is refused", async () => {
      const call = hunterio(site.base, site.key);
      const unset = await call("domainSearch", { domain: "example.com", limit: undefined });
      expect(unset).toEqual({ status: 400, body: refusal("pagination_error", 400) });
      expect(await hunterio(site.base, "unknown")("account")).toEqual({ status: 401, body: NO_USER });
      expect(await call("domainSearch")).toEqual({ status: 400, body: refusal("wrong_params", 400) });
      expect(await call("listLeads")).toEqual({ status: 501, body: refusal("not_implemented", 501) });
      const spent = await hunterio(poor.base, poor.key)("emailFinder", { ...ADA, domain: "example.com" });
      expect(spent).toEqual({ status: 429, body: refusal("too_many_requests", 429) });
      const claimed = await call("emailVerifier", { email: CLAIMED });
      expect(claimed).toEqual({ status: 451, body: refusal("claimed_email", 451) });
    });
  });

  describe("hunter.io", () => {
    test("the client gets every documented field despite trailing slashes and empty values", async () => {
      const hunter = hunterDotIo(site.base, site.key);
      try {
        const unset = { type: undefined, offset: undefined, limit: undefined };
        const search = await hunter.run((client, done) =>
          client.domainSearch({ domain: "example.com", ...unset }, done),
        );
        requireKeys(read(search));
        const finder = await hunter.run((client, done) =>
          client.emailFinder({ full_name: "Ada Lovelace", domain: "example.com" }, done),
        );
        expect(Object.keys(read(finder).data)).toEqual(expect.arrayContaining(documented.FINDER_DATA));
        expect(Object.keys(read(finder).meta.params)).toEqual(
          expect.arrayContaining(documented.FINDER_PARAMS),
        );
        const verifier = await hunter.run((client, done) =>
          client.emailVerifier("ada.lovelace@example.com", done),
        );
        expect(Object.keys(read(verifier).data)).toEqual(expect.arrayContaining(documented.VERIFIER_DATA));
        const count = await hunter.run((client, done) => client.emailCount("example.com", done));
        expect(Object.keys(read(count).data)).toEqual(documented.COUNT_DATA);
        const account = await hunter.run((client, done) => client.account(done));
        expect(Object.keys(read(account).data)).toEqual(documented.ACCOUNT_DATA);
        expect(hunter.lines).toEqual([
          `GET /v2/domain-search/?api_key=${site.key}&domain=example.com&type=&offset=&limit=`,
          `GET /v2/email-finder/?api_key=${site.key}&full_name=Ada%20Lovelace&domain=example.com`,
          `GET /v2/email-verifier/?api_key=${site.key}&email=ada.lovelace%40example.com`,
          `GET /v2/email-count/?api_key=${site.key}&domain=example.com`,
          `GET /v2/account/?api_key=${site.key}`,
        ]);
      } finally {
        hunter.restore();
      }
    });
    test("the client passes refusals on as errors that its command line can print", async () => {
      const refused = async (
        [base, key]: readonly [string, string],
        ...call: Parameters<ReturnType<typeof hunterDotIo>["run"]>
      ) => {
        const hunter = hunterDotIo(base, key);
        try {
          return printed(await hunter.run(...call));
        } finally {
          hunter.restore();
        }
      };
      const mine = [site.base, site.key] as const;
      expect(await refused([site.base, "unknown"], (client, done) => client.account(done))).toEqual([
        "[401] authentication_failed: No user found for the API key supplied",
      ]);
      const search = (domain: string) => (client: Parameters<Parameters<typeof refused>[1]>[0], done: Done) =>
        client.domainSearch({ domain }, done);
      expect(await refused(mine, search("no domain"))).toEqual([
        expect.stringMatching(/^\[400\] invalid_domain: /),
      ]);
      expect(await refused([poor.base, poor.key], search("example.com"))).toEqual([
        expect.stringMatching(/^\[429\] too_many_requests: /),
      ]);
      expect(await refused(mine, (client, done) => client.leads.list({}, done))).toEqual([
        expect.stringMatching(/^\[501\] not_implemented: leads: /),
      ]);
      expect(await refused(mine, (client, done) => client.emailVerifier(CLAIMED, done))).toEqual([
        expect.stringMatching(/^\[451\] claimed_email: /),
      ]);
    });
  });
});

type Done = (error: unknown, body?: unknown) => void;

interface Body {
  data: Record<string, unknown>;
  meta: { params: Record<string, unknown> };
}

/** The body of a success. */
function read(outcome: unknown): Body {
  const body = typeof outcome === "object" && outcome !== null && "body" in outcome ? outcome.body : outcome;
  expect(body).toEqual({
    data: expect.any(Object),
    meta: expect.objectContaining({ params: expect.any(Object) }),
  });
  // The assertion above has checked the type.
  return body as Body;
}

/** The client's errors as its command line prints them; a success has none. */
function printed(outcome: unknown): string[] {
  assert.ok(typeof outcome === "object" && outcome !== null && "refusal" in outcome);
  // A missing field prints as `undefined`, as in the client.
  const { errors } = outcome.refusal as { errors: { id: string; code: number; details: string }[] };
  return errors.map((each) => `[${each.code}] ${each.id}: ${each.details}`);
}

/** All fields of a domain search, down to the sources. */
function requireKeys({ data, meta }: Body): void {
  expect(Object.keys(data).sort()).toEqual(documented.SEARCH_DATA.toSorted());
  expect(Object.keys(meta).sort()).toEqual(documented.SEARCH_META.toSorted());
  expect(Object.keys(meta.params).sort()).toEqual(documented.SEARCH_PARAMS.toSorted());
  assert.ok(Array.isArray(data.emails) && data.emails.length === 3);
  for (const entry of data.emails) {
    expect(Object.keys(entry)).toEqual(expect.arrayContaining(documented.EMAIL_ENTRY));
    for (const source of entry.sources) expect(Object.keys(source)).toEqual(documented.SOURCE_ENTRY);
  }
}
