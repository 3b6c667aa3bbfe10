import { expect, test } from "vitest";
import { createLookupSite } from "../../../test/lookup-site.ts";
import { createRecordingObserver } from "../../../test/recording-observer.ts";
import { matchRoute, ROUTES } from "./routes.ts";

/** Requests that their routes answer with success. */
const ASKED: Record<string, string> = {
  "/v2/domain-search": "domain=example.com",
  "/v2/email-finder": "domain=example.com&full_name=Ada%20Lovelace",
  "/v2/email-verifier": "email=ada@example.com",
  "/v2/email-count": "domain=example.com",
};
const named = ROUTES.filter(({ methods }) => methods !== null);

test.each(named)("$route is reached by GET, HEAD and OPTIONS, and observed by its name", async (row) => {
  const observer = createRecordingObserver();
  const site = await createLookupSite({ observer });
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

test("every row but that of unknown addresses is described, and every described path is a row", async () => {
  const site = await createLookupSite();
  const { text } = await site.send("GET", "/api/openapi.json");
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, unknown>> };
  expect(Object.keys(paths).sort()).toEqual(named.map(({ route }) => route).sort());
  for (const { route, isOpen } of named) {
    const { get, head } = paths[route] ?? {};
    expect([route, typeof get, typeof head]).toEqual([route, "object", "object"]);
    // The description's own address needs no key, and describes itself without saying so.
    expect(Object(get).security ?? []).toHaveLength(isOpen ? 0 : 3);
  }
});

test.each([
  ["/v2/account/", "/v2/account"],
  ["/v2/account//", "/v2/*"],
  ["/v2/account/x", "/v2/*"],
  ["/v2/", "/v2/*"],
  ["/v2", "/v2/*"],
  ["/v2/*", "/v2/*"],
  ["/api/openapi.json", "/api/openapi.json"],
])("%s is of the route %s", (path, route) => {
  expect(matchRoute(path)?.route).toBe(route);
});

test.each(["/", "/v2x", "/v20/account", "/api/openapi.json/", "/api/images.json"])(
  "%s is the host's",
  (path) => {
    expect(matchRoute(path)).toBeUndefined();
  },
);
