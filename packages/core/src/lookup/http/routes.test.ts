import { expect, test } from "vitest";
import { contactOf, createLookupSite } from "../../../test/lookup-site.ts";
import { createRecordingObserver } from "../../../test/recording-observer.ts";
import { matchRoute, ROUTES } from "./routes.ts";

/** Requests that succeed, by route. */
const ASKED: Record<string, string> = {
  "/v2/domain-search": "domain=example.com",
  "/v2/email-finder": "domain=example.com&full_name=Ada%20Lovelace",
  "/v2/email-verifier": "email=ada@example.com",
  "/v2/email-count": "domain=example.com",
};
const known = [contactOf("ada.lovelace@example.com", { firstName: "Ada" })];
const organizations = { "example.com": "Example" };
const named = ROUTES.filter(({ methods }) => methods !== null);

test.each(named)("$route answers GET, HEAD and OPTIONS, and is observed by its name", async (row) => {
  const observer = createRecordingObserver();
  const site = await createLookupSite({ observer, known, organizations });
  const search = `api_key=${site.key}&${ASKED[row.route] ?? ""}`;
  const replies = await Promise.all(
    (row.methods ?? []).map((method) => site.send(method, row.route, { search })),
  );
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 204]);
  expect(replies[2]?.headers.Allow).toBe("GET, HEAD, OPTIONS");
  expect((await site.send("POST", row.route, { search })).status).toBe(405);
  const routes = observer.ended.map(({ operation }) => "route" in operation && operation.route);
  expect(new Set(routes)).toEqual(new Set([row.route]));
});

test.each([true, false])(
  "with testKey: %s, the OpenAPI document names the test key accordingly",
  async (testKey) => {
    const site = await createLookupSite({ testKey });
    const { text } = await site.send("GET", "/api/openapi.json");
    expect(text.includes("test-api-key")).toBe(testKey);
  },
);

test("the OpenAPI document describes every route except the fallback, and no other path", async () => {
  const site = await createLookupSite();
  const { text } = await site.send("GET", "/api/openapi.json");
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, unknown>> };
  expect(Object.keys(paths).sort()).toEqual(named.map(({ route }) => route).sort());
  for (const { route, isOpen } of named) {
    const { get, ...others } = paths[route] ?? {};
    expect([route, typeof get, others]).toEqual([route, "object", {}]);
    // The description's own URL needs no key, and describes itself as open.
    expect(Object(get).security ?? []).toHaveLength(isOpen ? 0 : 3);
  }
});

test.each([
  ["/v2/account/", "/v2/account"],
  ["/v2/account//", "/v2/*"],
  ["/v2/account/x", "/v2/*"],
  ["/v2/", "/v2/*"],
  ["/v2", "/v2/*"],
  ["/V2/account", "/v2/*"],
  ["//v2/account", "/v2/*"],
  ["/V2/discover", "/v2/*"],
  ["/V2/leads/7", "/v2/*"],
  ["//v2/discover", "/v2/*"],
  ["/v2/*", "/v2/*"],
  ["/v2/people/find/", "/v2/people/*"],
  ["/v2/people", "/v2/people/*"],
  ["/v2/discover", "/v2/discover/*"],
  ["/v2/discover/", "/v2/discover/*"],
  ["/v2/leads/7/tags", "/v2/leads/*"],
  ["/v2/leadsx", "/v2/*"],
  ["/v2/email-verifications", "/v2/email-verifications/*"],
  ["/v2/email-verifications/AAAAAAAAAAAAAAAAAAAAAA.csv", "/v2/email-verifications/*"],
  ["/v2/reports", "/v2/reports/*"],
  ["/api/openapi.json", "/api/openapi.json"],
])("the path %s has the route %s", (path, route) => {
  expect(matchRoute(path)?.route).toBe(route);
});

test.each(["/", "/v2x", "/v20/account", "/api/openapi.json/", "/api/images.json"])(
  "the path %s belongs to the host",
  (path) => {
    expect(matchRoute(path)).toBeUndefined();
  },
);
