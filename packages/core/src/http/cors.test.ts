import { expect, test } from "vitest";
import { createCall } from "../../test/calls.ts";
import type { Reply, Service } from "../contracts/call.ts";
import { type CorsOptions, corsService } from "./cors.ts";

const PAGE = "https://shop.example";
const OTHER = "https://evil.example";
const LISTED: CorsOptions = { origins: [PAGE, "http://localhost:5173", "null"] };

/** A service that always sends the same reply, whose headers must not be changed. */
function answering(reply: Reply | undefined): Service {
  if (reply !== undefined) Object.freeze(reply.headers);
  return { handle: async () => Object.freeze(reply) };
}

async function headersFor(
  reply: Reply,
  options: CorsOptions,
  headers: Record<string, string>,
  method = "GET",
): Promise<Reply["headers"]> {
  const sent = await corsService(answering(reply), options).handle(createCall(method, "/x", { headers }));
  expect(sent).toMatchObject({ status: reply.status });
  expect(sent?.body).toBe(reply.body);
  return sent?.headers ?? {};
}

function preflightOf(origin: string, options = LISTED, reply: Reply = PREFLIGHT): Promise<Reply["headers"]> {
  const headers = { origin, "access-control-request-method": "PATCH" };
  return headersFor(reply, options, headers, "OPTIONS");
}

const PREFLIGHT: Reply = { status: 204, headers: { Allow: "GET, HEAD, PATCH, DELETE, OPTIONS" } };
const PICTURE: Reply = { status: 200, headers: { ETag: '"1"' }, body: "bytes" };

const isCors = (name: string) => /^access-control-/i.test(name);

test("a preflight of a listed origin gets the allowed methods and request headers", async () => {
  const headers = await preflightOf(PAGE);
  expect(headers).toEqual({
    Allow: "GET, HEAD, PATCH, DELETE, OPTIONS",
    Vary: "Origin",
    "Access-Control-Allow-Origin": PAGE,
    "Access-Control-Allow-Methods": "GET, HEAD, PATCH, DELETE, OPTIONS",
    "Access-Control-Allow-Headers":
      "Content-Type, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, If-Range, Range, Prefer, " +
      "Idempotency-Key, X-Service-Image-Pin, Authorization, X-API-KEY, Traceparent, Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset, X-Requested-With, Cache-Control",
    "Access-Control-Max-Age": "600",
  });
});

test("a preflight of an unlisted origin gets no CORS headers", async () => {
  const headers = await preflightOf(OTHER);
  expect(headers).toEqual({ ...PREFLIGHT.headers, Vary: "Origin" });
});

test("a preflight that the service rejects stays rejected and names no methods", async () => {
  const headers = await preflightOf(PAGE, LISTED, { status: 403, headers: {} });
  expect(headers).not.toHaveProperty("Access-Control-Allow-Methods");
});

test("a preflight for private network access is not granted", async () => {
  const headers = await headersFor(
    PREFLIGHT,
    LISTED,
    {
      origin: PAGE,
      "access-control-request-method": "POST",
      "access-control-request-private-network": "true",
    },
    "OPTIONS",
  );
  expect(headers).not.toHaveProperty("Access-Control-Allow-Private-Network");
});

test("OPTIONS without preflight headers gets no preflight headers", async () => {
  const headers = await headersFor(PREFLIGHT, LISTED, { origin: PAGE }, "OPTIONS");
  expect(headers).not.toHaveProperty("Access-Control-Allow-Methods");
  expect(headers).toHaveProperty("Access-Control-Expose-Headers");
});

test.each([PAGE, "http://localhost:5173", "null"])(
  "a page of the allowed origin %s may read replies",
  async (origin) => {
    const headers = await headersFor(PICTURE, LISTED, { origin });
    expect(headers).toMatchObject({ ETag: '"1"', "Access-Control-Allow-Origin": origin, Vary: "Origin" });
    expect(String(headers["Access-Control-Expose-Headers"]).split(", ")).toEqual(
      expect.arrayContaining(["Location", "Link", "ETag", "Retry-After", "X-Service-Image-Pin"]),
    );
    expect(headers).not.toHaveProperty("Access-Control-Allow-Credentials");
  },
);

test.each([200, 304, 403, 404, 429, 500, 503])(
  "a reply with status %i is readable by a listed origin",
  async (status) => {
    const headers = await headersFor({ status, headers: {} }, LISTED, { origin: PAGE });
    expect(headers).toMatchObject({ "Access-Control-Allow-Origin": PAGE });
  },
);

test.each([
  OTHER,
  `${PAGE}.evil.example`,
  `${PAGE}:8443`,
  "http://shop.example",
  "HTTPS://SHOP.EXAMPLE",
  `${PAGE}/`,
  `${PAGE}, ${OTHER}`,
  "",
  "*",
])("a page of %j may not read replies", async (origin) => {
  const headers = await headersFor(PICTURE, LISTED, { origin });
  expect(Object.keys(headers).filter(isCors)).toEqual([]);
  expect(headers).toMatchObject({ Vary: "Origin" });
});

test("a reply to a request without Origin has Vary: Origin", async () => {
  const headers = await headersFor(PICTURE, LISTED, {});
  expect(headers).toEqual({ ETag: '"1"', Vary: "Origin" });
});

test('with origins "*" every request gets the same headers', async () => {
  const headers = await headersFor(PICTURE, { origins: "*" }, {});
  expect(headers).toMatchObject({ "Access-Control-Allow-Origin": "*" });
  expect(headers).not.toHaveProperty("Vary");
  expect(await headersFor(PICTURE, { origins: "*" }, { origin: OTHER })).toEqual(headers);
  expect(await preflightOf("null", { origins: "*" })).toMatchObject({
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, HEAD, PATCH, DELETE, OPTIONS",
  });
});

test("credentials are granted to listed origins only, also in preflights", async () => {
  const options = { origins: [PAGE], credentials: true };
  const granted = { "Access-Control-Allow-Origin": PAGE, "Access-Control-Allow-Credentials": "true" };
  expect(await headersFor(PICTURE, options, { origin: PAGE })).toMatchObject(granted);
  expect(await preflightOf(PAGE, options)).toMatchObject(granted);
  const others = await headersFor(PICTURE, options, { origin: OTHER });
  expect(Object.keys(others).filter(isCors)).toEqual([]);
});

test.each<[string, string | string[], string | string[]]>([
  ["Vary", "Accept", "Accept, Origin"],
  ["vary", "Accept, Accept-Encoding", "Accept, Accept-Encoding, Origin"],
  ["Vary", ["Accept", "Cookie"], "Accept, Cookie, Origin"],
  ["Vary", "", "Origin"],
  ["Vary", "accept, origin", "accept, origin"],
  ["Vary", "*", "*"],
  ["VARY", "X-Origin", "X-Origin, Origin"],
])("header %s: %j becomes %j when Origin is added to Vary", async (name, before, after) => {
  const headers = await headersFor({ status: 200, headers: { [name]: before } }, LISTED, { origin: PAGE });
  expect(Object.entries(headers).filter(([key]) => key.toLowerCase() === "vary")).toEqual([[name, after]]);
});

test("a request outside the service stays undefined", async () => {
  const service = corsService(answering(undefined), { origins: "*" });
  expect(await service.handle(createCall("OPTIONS", "/host", { headers: { origin: PAGE } }))).toBeUndefined();
});

test("a rejection of the service passes through unchanged", async () => {
  const error = new Error("a bug");
  const service = corsService({ handle: () => Promise.reject(error) }, { origins: "*" });
  await expect(service.handle(createCall("GET", "/x"))).rejects.toBe(error);
});

test.each<[CorsOptions, RegExp]>([
  [{ origins: "*", credentials: true }, /cors\.credentials needs a list/],
  [{ origins: ["*"] }, /instead of a list/],
  [{ origins: [`${PAGE}/`] }, /must be written .*"https:\/\/shop\.example"$/],
  [{ origins: [`${PAGE}/path`] }, /without path or slash/],
  [{ origins: [`${PAGE}?a=1`] }, /must be written/],
  [{ origins: [`${PAGE}:443`] }, /must be written/],
  [{ origins: ["https://Shop.example"] }, /must be written/],
  [{ origins: ["https://user@shop.example"] }, /must be written/],
  [{ origins: ["https://bücher.example"] }, /"https:\/\/xn--bcher-kva\.example"$/],
  [{ origins: ["shop.example"] }, /is not an origin, such as/],
  [{ origins: ["file:///srv"] }, /is not an origin, such as/],
  [{ origins: [""] }, /is not an origin, such as/],
  // As a configuration file may contain it.
  [{ origins: [7] } as unknown as CorsOptions, /origins\.0 is not an origin/],
])("corsService with %j throws a TypeError with the reason", (options, reason) => {
  expect(() => corsService(answering(undefined), options)).toThrow(reason);
  expect(() => corsService(answering(undefined), options)).toThrow(TypeError);
});
