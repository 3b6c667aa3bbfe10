import { describe, expect, test } from "vitest";
import { created } from "../../../test/image-site.ts";
import { createLifeSite } from "../../../test/life-site.ts";
import type { CorsOptions } from "../../http/cors.ts";

// The service itself is at https://pictures.example in these tests.
const OWN = "https://pictures.example";
const FOREIGN = "https://evil.example";
const COOKIE = { cookie: "session=anna" };

type Headers = Record<string, string>;
interface Options {
  cors?: CorsOptions;
  publicUrl?: string;
}

/** Statuses of a create, a change, a deletion and the edit form, each sent with these headers by an owner. */
async function statuses(headers: Headers, options: Options = {}, isAsked = true): Promise<number[]> {
  const authorize = () => ({ owner: "anna" });
  const site = createLifeSite({ ...options, ...(isAsked ? { authorize } : {}) });
  const { id, pin } = created(await site.create());
  const path = `/api/images/${id}.json`;
  const search = `pin=${pin}`;
  const change = { headers, search, fields: { name: "New", action: "update" } };
  return [
    (await site.create({ headers })).status,
    (await site.send("PATCH", path, change)).status,
    (await site.send("POST", `/${id}/edit`, change)).status,
    (await site.send("DELETE", path, { headers, search })).status,
  ];
}

const DONE = [201, 200, 303, 204];
const REFUSED = [403, 403, 403, 403];

describe("where authorize decides, a request of a browser is refused", () => {
  test.each<[string, Headers, Options?]>([
    ["from another site", { origin: FOREIGN, "sec-fetch-site": "cross-site", ...COOKIE }],
    [
      "from another host of the same site",
      { origin: "https://app.pictures.example", "sec-fetch-site": "same-site" },
    ],
    ["without Origin from another site", { "sec-fetch-site": "cross-site" }],
    ["with an unknown relation", { "sec-fetch-site": "same-origin, cross-site" }],
    ["that sends only a foreign Origin", { origin: FOREIGN }],
    ["of another port", { origin: `${OWN}:8443` }],
    ["from an opaque origin of another site", { origin: "null", "sec-fetch-site": "cross-site" }],
    ["from this host without TLS", { origin: "http://pictures.example", "sec-fetch-site": "cross-site" }],
    ["whose origin CORS does not list", { origin: FOREIGN }, { cors: { origins: ["https://app.example"] } }],
    [
      "with cookies although CORS allows all origins",
      { origin: FOREIGN, ...COOKIE },
      { cors: { origins: "*" } },
    ],
    ["with an Origin that is none", { origin: "pictures.example" }],
  ])("%s", async (_which, headers, options) => {
    expect(await statuses(headers, options)).toEqual(REFUSED);
  });

  test("with a problem that names the option, and before it counts against a limit", async () => {
    const site = createLifeSite({ authorize: () => true, rateLimits: { creates: 1 } });
    const forged = await site.create({ headers: { origin: FOREIGN } });
    expect([forged.status, forged.headers["Content-Type"]]).toEqual([
      403,
      "application/problem+json; charset=utf-8",
    ]);
    expect(forged.json.detail).toMatch(/page of another origin.*cors/);
    expect((await site.create()).status).toBe(201);
  });
});

describe("where authorize decides, a request is allowed", () => {
  test.each<[string, Headers, Options?]>([
    ["of a program, which sends neither header", COOKIE],
    ["of a page of the service", { origin: OWN, "sec-fetch-site": "same-origin", ...COOKIE }],
    ["of a page of the service in an older browser", { origin: OWN, ...COOKIE }],
    ["of a page of the service behind a proxy that hides TLS", { origin: "http://pictures.example" }],
    ["that the user began", { "sec-fetch-site": "none" }],
    [
      "of a page at publicUrl",
      { origin: "https://img.example" },
      { publicUrl: "https://img.example/pictures" },
    ],
    [
      "of an origin that CORS lists",
      { origin: "https://app.example", "sec-fetch-site": "cross-site", ...COOKIE },
      { cors: { origins: ["https://app.example"], credentials: true } },
    ],
    ["of a local page, if CORS lists null", { origin: "null" }, { cors: { origins: ["null"] } }],
    [
      "without cookies if CORS allows all origins",
      { origin: FOREIGN, "sec-fetch-site": "cross-site" },
      { cors: { origins: "*" } },
    ],
  ])("%s", async (_which, headers, options) => {
    expect(await statuses(headers, options)).toEqual(DONE);
  });

  test("from the edit form of an older browser, which sends the origin null and the PIN", async () => {
    expect(await statuses({ origin: "null" })).toEqual([403, 403, 303, 403]);
  });

  test("for reading, from every site", async () => {
    const site = createLifeSite({ authorize: () => true });
    const { id } = created(await site.create());
    const headers = { origin: FOREIGN, "sec-fetch-site": "cross-site" };
    for (const method of ["GET", "HEAD", "OPTIONS"])
      expect((await site.send(method, `/api/images/${id}.json`, { headers })).status).toBeLessThan(300);
  });
});

test("without authorize every site may upload, and edit with the PIN", async () => {
  expect(await statuses({ origin: FOREIGN, "sec-fetch-site": "cross-site" }, {}, false)).toEqual(DONE);
});
