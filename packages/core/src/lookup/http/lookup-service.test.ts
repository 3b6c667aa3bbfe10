import { describe, expect, test } from "vitest";
import { createCall } from "../../../test/calls.ts";
import { contactOf, createLookupSite } from "../../../test/lookup-site.ts";
import { pass, stopTime } from "../../../test/stopped-time.ts";
import { createMemoryAccounts } from "../memory/memory-accounts.ts";

const known = [contactOf("ada.lovelace@example.com", { firstName: "Ada", lastName: "Lovelace" })];

describe("the lookup's API keys", () => {
  test.each([
    ["in the query", (key: string) => ({ search: `domain=example.com&api_key=${key}` })],
    ["as X-API-KEY", (key: string) => ({ search: "domain=example.com", headers: { "x-api-key": key } })],
    [
      "as a bearer token",
      (key: string) => ({ search: "domain=example.com", headers: { authorization: `Bearer ${key}` } }),
    ],
  ])("are accepted %s, and an unknown one gets 401", async (_, options) => {
    const site = await createLookupSite({ known });
    expect((await site.send("GET", "/v2/domain-search", options(site.key))).status).toBe(200);
    const wrong = await site.send("GET", "/v2/domain-search", options("0".repeat(40)));
    expect(wrong.status).toBe(401);
    expect(wrong.body.errors).toEqual([
      { id: "authentication_failed", code: 401, details: "No user found for the API key supplied" },
    ]);
  });

  test("stop working when revoked, and the account's other keys still work", async () => {
    const site = await createLookupSite({ known });
    const other = await site.lookup.createKey(site.account);
    expect(await site.lookup.revokeKeys(site.account, site.key.slice(0, 6))).toBe(1);
    expect((await site.get("account")).status).toBe(401);
    expect((await site.send("GET", "/v2/account", { search: `api_key=${other}` })).status).toBe(200);
    const keys = await site.lookup.keys(site.account);
    expect(keys.map(({ revokedAt }) => revokedAt !== null)).toEqual([true, false]);
    expect(JSON.stringify(keys)).not.toContain(other);
  });

  test("are not needed if the host authenticates the request", async () => {
    const accounts = createMemoryAccounts();
    const account = { id: "host", email: null, firstName: null, lastName: null, plan: "free", createdAt: 0 };
    await accounts.create(account);
    const site = await createLookupSite({ accounts, authenticate: () => account });
    const { body } = await site.send("GET", "/v2/account");
    expect(body.data).toMatchObject({ plan_name: "Free", team_id: expect.any(Number) });
  });

  test("test-api-key gets fixed answers, checks parameters and counts nothing", async () => {
    const site = await createLookupSite();
    const ask = (operation: string, search: string) =>
      site.send("GET", `/v2/${operation}`, { search: `api_key=test-api-key&${search}` });
    const search = await ask("domain-search", "domain=anything.example&limit=3");
    expect(search.body.data).toMatchObject({
      domain: "example.com",
      emails: [{ value: "ada.lovelace@example.com" }],
    });
    expect(search.body.meta).toMatchObject({ limit: 3, params: { domain: "anything.example" } });
    const finder = await ask("email-finder", "domain=x.example&full_name=Some%20Body");
    expect(finder.body.data).toMatchObject({ email: "ada.lovelace@example.com", score: 94 });
    const verifier = await ask("email-verifier", "email=some@body.example");
    expect(verifier.body.data).toMatchObject({ result: "deliverable", email: "some@body.example" });
    expect((await ask("domain-search", "domain=no")).body.errors?.[0]).toMatchObject({
      id: "invalid_domain",
    });
    expect((await ask("account", "")).body.data).toMatchObject({ plan_name: "Free" });
    expect((await ask("email-count", "domain=x.example")).body.data).toMatchObject({ total: 1 });
  });
});

test("the account endpoint reports the used and the remaining allowance", async () => {
  const site = await createLookupSite({ known });
  await site.get("domain-search", "domain=example.com");
  const { body } = await site.get("account");
  expect(body).toEqual({
    data: {
      first_name: "Me",
      last_name: null,
      email: "me@example.net",
      plan_name: "Free",
      plan_level: 0,
      reset_date: "2026-04-01",
      team_id: expect.any(Number),
      calls: { used: 1, available: 200 },
      requests: { searches: { used: 1, available: 100 }, verifications: { used: 0, available: 100 } },
    },
    meta: { params: {} },
  });
});

test("requests with unknown keys are limited per client address", async () => {
  const site = await createLookupSite({ requestsPerSecond: 3 });
  stopTime();
  const guess = (key: number) =>
    site.send("GET", "/v2/account", { search: `api_key=${key}` }).then(({ status }) => status);
  const statuses = await Promise.all(Array.from({ length: 10 }, (_, key) => guess(key)));
  expect(statuses.filter((status) => status === 401)).toHaveLength(3);
  expect(statuses.filter((status) => status === 429)).toHaveLength(7);
  expect((await site.get("account")).status).toBe(200);
});

test("requests without an account share the limit of their client, whatever port or /64 address it has", async () => {
  const site = await createLookupSite({ known, requestsPerSecond: 2 });
  stopTime();
  const statusesOf = (...clients: string[]) =>
    Promise.all(
      clients.map(async (clientIp) => {
        const options = { search: "domain=example.com", clientIp };
        return (await site.send("GET", "/v2/email-count", options)).status;
      }),
    );
  const proxied = await statusesOf("198.51.100.50:1001", "198.51.100.50:1002", "198.51.100.50");
  expect(proxied.sort()).toEqual([200, 200, 429]);
  const neighbours = await statusesOf("[2001:db8::1]:443", "2001:db8::2", "2001:db8::3");
  expect(neighbours.sort()).toEqual([200, 200, 429]);
  expect(await statusesOf("2001:db8:0:1::1")).toEqual([200]);
});

test("a request with several Host headers answers 400", async () => {
  const site = await createLookupSite({ known });
  const headers = { host: "pictures.example, evil.example" };
  const { status, body } = await site.get("email-count", "domain=example.com", { headers });
  expect([status, body.errors?.[0]?.id]).toEqual([400, "wrong_params"]);
});

test("email-count needs no key and costs nothing", async () => {
  const more = contactOf("sales@example.com", { type: "generic", department: "sales" });
  const site = await createLookupSite({ known: [...known, more] });
  const { status, body } = await site.send("GET", "/v2/email-count", { search: "domain=example.com" });
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ total: 2, personal_emails: 1, generic_emails: 1 });
  expect(Object.keys(body.data?.department as object)).toHaveLength(14);
  expect(body.data).toMatchObject({ department: { sales: 1, it: 0 }, seniority: { senior: 0 } });
  expect(body.meta).toEqual({ params: { domain: "example.com", company: null, type: null } });
});

describe("a suppressed subject", () => {
  test("is not found, verified, guessed or counted, even if it is imported again", async () => {
    const site = await createLookupSite({ known });
    await site.lookup.suppress("Ada.Lovelace@example.com");
    await site.contacts.load({ contacts: known });
    const counted = await site.get("email-count", "domain=example.com");
    expect(counted.body.data).toMatchObject({ total: 0 });
    await site.contacts.load({ contacts: known });
    const verified = await site.get("email-verifier", "email=ada.lovelace@example.com");
    expect([verified.status, verified.body.errors?.[0]?.id]).toEqual([451, "claimed_email"]);
    const found = await site.get("email-finder", "domain=example.com&full_name=Ada%20Lovelace");
    expect([found.status, found.body.errors?.[0]?.id]).toEqual([451, "claimed_email"]);
    const searched = await site.get("domain-search", "domain=example.com");
    expect(searched.body).toMatchObject({ data: { emails: [] }, meta: { results: 0 } });
    expect(await site.lookup.unsuppress("ada.lovelace@example.com")).toBe(true);
    expect((await site.get("email-verifier", "email=ada.lovelace@example.com")).status).toBe(200);
  });

  test("may be a whole domain", async () => {
    const site = await createLookupSite({ known });
    await site.lookup.suppress("example.com");
    for (const [operation, search] of [
      ["domain-search", "domain=example.com"],
      ["email-count", "domain=example.com"],
      ["email-finder", "domain=example.com&full_name=Ada%20Lovelace"],
      ["email-verifier", "email=x.y@example.com"],
    ] as const) {
      const { status, body } = await site.get(operation, search);
      expect([status, body.errors?.[0]?.id]).toEqual([400, "invalid_domain"]);
    }
  });

  test("is refused like an invalid domain if a client without a key asks for the number of its addresses", async () => {
    const site = await createLookupSite({ known });
    await site.lookup.suppress("example.com");
    const errorsOf = async (search: string) =>
      (await site.send("GET", "/v2/email-count", { search })).body.errors;
    expect(await errorsOf("domain=example.com")).toEqual(await errorsOf("domain=no_domain"));
    expect(await errorsOf(`domain=example.com&api_key=${site.key}`)).toMatchObject([
      { id: "invalid_domain", details: expect.stringMatching(/opted out/) },
    ]);
  });

  test("must be an address or a domain, and other text rejects with bad_request", async () => {
    const site = await createLookupSite();
    for (const subject of ["", "ada", "@", "a b@example.com"]) {
      await expect(site.lookup.suppress(subject)).rejects.toMatchObject({ code: "bad_request" });
    }
  });
});

describe("the lookup's routes and methods", () => {
  test.each(["/v2/domain-search/", "/v2/account/"])(
    "answer %s like the path without the slash",
    async (path) => {
      const site = await createLookupSite({ known });
      const search = `api_key=${site.key}&domain=example.com&type=&offset=&limit=`;
      expect((await site.send("GET", path, { search })).status).toBe(200);
    },
  );

  test.each(["/v2", "/v2/", "/v2/nothing", "/v2/domain-search//", "/v2/account/x"])(
    "answer 404 at %s",
    async (path) => {
      const site = await createLookupSite();
      const { status, body } = await site.send("GET", path);
      expect({ status, errors: body.errors }).toEqual({
        status: 404,
        errors: [{ id: "not_found", code: 404, details: expect.any(String) }],
      });
    },
  );

  test("leave paths outside /v2 to the host", async () => {
    const site = await createLookupSite();
    for (const path of ["/", "/v2x", "/v1/account", "/api/v2/account"]) {
      expect(await site.lookup.handle(createCall("GET", path))).toBeUndefined();
    }
  });

  test("answer other methods with 405 and the allowed methods", async () => {
    const site = await createLookupSite();
    const { status, headers, body } = await site.send("POST", "/v2/account");
    expect([status, headers.Allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect(body.errors?.[0]).toMatchObject({ code: 405 });
    expect((await site.send("OPTIONS", "/v2/account")).status).toBe(204);
  });

  test("answer HEAD after checking key and parameters, without doing the work", async () => {
    const site = await createLookupSite({ known });
    const head = (search: string) => site.send("HEAD", "/v2/domain-search", { search });
    expect((await head("domain=example.com")).status).toBe(401);
    expect((await head(`api_key=${site.key}&domain=x`)).status).toBe(400);
    const reply = await site.lookup.handle(
      createCall("HEAD", "/v2/domain-search", { search: `api_key=${site.key}&domain=example.com` }),
    );
    expect(reply).toMatchObject({ status: 200 });
    expect(reply).not.toHaveProperty("body");
    // It would have to equal that of the GET response (RFC 9110 §8.6).
    expect(reply?.headers).not.toHaveProperty("Content-Length");
    expect((await site.get("account")).body.data).toMatchObject({ calls: { used: 0 } });
  });

  test("the lookup rejects requests without TLS", async () => {
    const site = await createLookupSite();
    const call = { ...createCall("GET", "/v2/account"), secure: false };
    expect(await site.lookup.handle(call)).toMatchObject({ status: 403 });
  });
});

test("requests above the rate limit wait up to two seconds for their turn, and further ones get 429 and Retry-After", async () => {
  const site = await createLookupSite({ requestsPerSecond: 2 });
  stopTime();
  const requests = [1, 2, 3, 4, 5, 6, 7].map(() => site.get("account"));
  await pass(2000);
  const answers = await Promise.all(requests);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 429]);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.body.errors?.[0]).toMatchObject({ id: "rate_limited" });
  expect(refused?.headers["Retry-After"]).toBe("1");
});

test("email-count counts a request with a key at the rate of its account, and one without at that of the client", async () => {
  const site = await createLookupSite({ known, requestsPerSecond: 2 });
  stopTime();
  const search = "domain=example.com";
  const requests = [1, 2, 3].map(() => site.get("email-count", search));
  await pass(1000);
  const keyed = await Promise.all(requests);
  expect(keyed.map(({ status }) => status)).toEqual([200, 200, 200]);
  const open = await Promise.all([1, 2, 3].map(() => site.send("GET", "/v2/email-count", { search })));
  expect(open.map(({ status }) => status)).toEqual([200, 200, 429]);
});

test("close() answers 503 to requests that wait for their turn", async () => {
  const site = await createLookupSite({ known, requestsPerSecond: 1 });
  stopTime();
  const pending = [1, 2, 3].map(() => site.get("account"));
  expect((await pending[0])?.status).toBe(200);
  await site.lookup.close();
  const waited = await Promise.all(pending.slice(1));
  expect(waited.map(({ status, body }) => [status, body.errors?.[0]?.id])).toEqual([
    [503, "unavailable"],
    [503, "unavailable"],
  ]);
});

test("requests during close() get 503", async () => {
  const site = await createLookupSite({ known });
  await site.lookup.close();
  const { status, body } = await site.get("account");
  expect([status, body.errors?.[0]?.id]).toEqual([503, "unavailable"]);
});

test.each([
  [{ secret: "short" }, /: secret must be at least 32 bytes/],
  [{ plans: { free: { searches: -1, verifications: 1 } } }, /: plans\.free\.searches/],
  [{ networkNames: { a: "x y", b: "z" } }, /: networkNames\.a/],
  [{ networkNames: { a: "same", b: "same" } }, /must differ/],
  [{ requestsPerSecond: 0 }, /: requestsPerSecond/],
])("createLookup with %j throws an error that names the option", async (options, message) => {
  await expect(createLookupSite(options)).rejects.toThrow(message);
});
