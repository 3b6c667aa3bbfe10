import { readFile } from "node:fs/promises";
import {
  type ApiDocument,
  createApiDescription,
  createImages,
  createMemoryBlobStore,
  type ImagesOptions,
} from "@outrigger/core";
import { createHeaderRenderer } from "@outrigger/testing";
import { createPages } from "@outrigger/web";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestLookup, type TestLookupOptions } from "./lookup/lookup-site.ts";
import { operationsOf } from "./openapi/operations.ts";
import { type ApiSite, startApi } from "./openapi/sites.ts";
import { documentOf } from "./support/described-replies.ts";

const SECRET = "a secret of this test, of 32 bytes";

async function imagesDocument(options: Partial<ImagesOptions> = {}): Promise<ApiDocument> {
  const images = createImages({
    ...{ storage: createMemoryBlobStore(), renderer: createHeaderRenderer(), secret: SECRET },
    pages: createPages(),
    ...options,
  });
  try {
    return await documentOf(images);
  } finally {
    await images.close({ timeoutMs: 0 });
  }
}

async function lookupDocument(options: TestLookupOptions = {}): Promise<ApiDocument> {
  const { lookup } = await createTestLookup(options);
  try {
    return await documentOf(lookup);
  } finally {
    await lookup.close();
  }
}

async function bothDocument(): Promise<ApiDocument> {
  const site = await startApi();
  await site.stop();
  return site.document;
}

async function lint(described: object): Promise<string[]> {
  const rules = { "operation-tag-defined": "error" } as const;
  const config = await createConfig({ extends: ["recommended"], rules });
  const problems = await lintFromString({ source: JSON.stringify(described), config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
}

test("the linter finds a path of a wrong type, a missing license, and a tag, an ID and an example that are wrong", async () => {
  const document = await imagesDocumentWithoutPages();
  const broken = await lint({ ...document, paths: { "/": { get: { responses: 5 } } } });
  expect(broken).toContainEqual(expect.stringMatching(/^struct: /));
  const text = JSON.stringify(document);
  for (const [right, wrong, rule] of [
    [/"tags":\["\w+"\]/, '"tags":["Unknown"]', "operation-tag-defined"],
    [/"operationId":"\w+"/, '"operationId":"getDescription"', "operation-operationId-unique"],
    [/"examples":\["[^"]+"/, '"examples":[5', "no-invalid-schema-examples"],
  ] as const) {
    const faults = await lint(JSON.parse(text.replace(right, wrong)));
    expect(faults).toContainEqual(expect.stringContaining(`${rule}: `));
  }
  const { license: _, ...info } = document.info;
  expect(await lint({ ...document, info })).toEqual([expect.stringMatching(/^info-license: /)]);
});

test.each([
  ["images", () => imagesDocument()],
  ["images without pages", () => imagesDocumentWithoutPages()],
  ["images that are imported", () => imagesDocument({ importUrls: true })],
  ["images with tags for caches", () => imagesDocument({ cacheTag: "Cache-Tag" })],
  ["a lookup", () => lookupDocument()],
  ["both", bothDocument],
])(
  "the description of %s is OpenAPI 3.1 without an error or warning under the recommended rules of Redocly, and defines its tags",
  async (_name, make) => {
    const document = await make();
    expect(await lint(document)).toEqual([]);
    expect(document.openapi).toBe("3.1.1");
  },
);

async function imagesDocumentWithoutPages(): Promise<ApiDocument> {
  const images = createImages({
    storage: createMemoryBlobStore(),
    renderer: createHeaderRenderer(),
    secret: SECRET,
  });
  const document = await documentOf(images);
  await images.close({ timeoutMs: 0 });
  return document;
}

describe("a description", () => {
  test("tells of limits where there are any", async () => {
    const limited = await imagesDocument();
    const unlimited = await imagesDocument({ rateLimits: false });
    expect(JSON.stringify(limited)).toContain("Too Many Requests");
    expect(JSON.stringify(unlimited)).not.toContain("Too Many Requests");
    expect(operationsOf(unlimited).some(({ operation }) => "429" in operation.responses)).toBe(false);
  });

  test("tells how large a file and how long a life may be", async () => {
    const document = await imagesDocument({ maxUploadBytes: 12_345, maxLifetimeMs: 10 * 86_400_000 });
    const create = JSON.stringify(document.paths["/api/images.json"]);
    expect(create).toContain("12.05 KiB");
    expect(create).toContain("at most 10 days from now");
  });

  test("allows to keep an image for ever where the service does, and nowhere else", async () => {
    const limited = JSON.stringify(await imagesDocument());
    const free = JSON.stringify(await imagesDocument({ maxLifetimeMs: null, defaultLifetimeMs: null }));
    for (const text of [
      '{"enum":["never",null]}',
      "without a limit. Default: never.",
      "image never expires",
    ]) {
      expect([free.includes(text), limited.includes(text)]).toEqual([true, false]);
    }
  });

  test("names no page where there are none", async () => {
    expect(JSON.stringify(await imagesDocumentWithoutPages())).not.toContain("text/html");
  });

  test("has no formats that nothing can be served as", async () => {
    const document = await imagesDocument({
      renderer: { ...createHeaderRenderer(), canRender: () => false },
    });
    expect(document.paths["/api/images/{id}.webp"]).toBeUndefined();
    expect(document.paths["/api/images/{id}.png"]?.get?.responses["501"]).toBeDefined();
  });

  test("leaves unexpected failures to the host where the service does", async () => {
    const [images, lookup] = [
      await imagesDocument({ errors: "host" }),
      await lookupDocument({ errors: "host" }),
    ];
    for (const { operation } of [images, lookup].flatMap(operationsOf)) {
      expect(operation.responses["500"]?.content).toBeUndefined();
    }
  });

  test("needs no secure connection where the service needs none", async () => {
    const document = await imagesDocument({ tls: "off" });
    expect(document.paths["/api/images/{id}.json"]?.get?.responses["403"]).toBeUndefined();
    expect(document.paths["/api/images/{id}.json"]?.patch?.responses["403"]).toBeDefined();
  });

  test("names the presets, the steps and what is signed, as they are set", async () => {
    const get = async (options: Parameters<typeof imagesDocument>[0]) =>
      (await imagesDocument(options)).paths["/api/images/{id}.png"]?.get;
    const preset = { name: "preset", in: "query", schema: { type: "string", enum: ["thumb", "large"] } };
    const plain = await get({});
    expect(plain?.parameters).not.toContainEqual(expect.objectContaining({ name: "preset" }));
    expect(plain?.parameters).toContainEqual(expect.objectContaining({ name: "s", in: "query" }));
    expect(plain?.parameters).toContainEqual(expect.objectContaining({ name: "until", in: "query" }));
    const presets = { thumb: { resize: "32x32" }, large: { resize: "2000x" } };
    expect((await get({ presets }))?.parameters).toContainEqual(expect.objectContaining(preset));
    expect((await get({ sizes: { steps: [400, 100] } }))?.description).toContain("longer side: 100, 400.");
    expect((await get({ sizes: "signed" }))?.description).toContain("an address that the host app signed");
  });

  test("calls the networks what the lookup calls them", async () => {
    const document = await lookupDocument({ networkNames: { a: "pro", b: "short" } });
    const { EmailEntry, Person } = document.components.schemas ?? {};
    for (const schema of [EmailEntry, Person]) {
      expect(schema?.required).toEqual(expect.arrayContaining(["pro", "pro_url", "short"]));
      expect(schema?.required).not.toContain("network_a");
    }
  });

  test("has the version of the package", async () => {
    const manifest = JSON.parse(
      await readFile(new URL("../packages/core/package.json", import.meta.url), "utf8"),
    );
    expect((await imagesDocument()).info.version).toBe(manifest.version);
  });
});

describe("mounted", () => {
  let site: ApiSite;

  beforeAll(async () => {
    site = await startApi();
  });
  afterAll(() => site.stop());

  const get = (headers: Record<string, string> = {}) =>
    site.send({ method: "GET", target: "/api/openapi.json", headers });

  test("it has both services, and names the mount point as the host app knows it", async () => {
    const { body, headers } = await get();
    const document: ApiDocument = JSON.parse(body.toString("utf8"));
    expect(document.servers).toEqual([{ url: site.base }]);
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([
        "/api/images.json",
        "/{id}",
        "/sharex.sxcu",
        "/api/openapi.json",
        "/v2/account",
      ]),
    );
  });

  test("it names the public URL where that is given", async () => {
    const service = createApiDescription([site.images], { publicUrl: "https://images.example/i/" });
    expect((await documentOf(service)).servers).toEqual([{ url: "https://images.example/i" }]);
  });

  test("it is not sent to who has it", async () => {
    const first = await get();
    const second = await get({ "If-None-Match": String(first.headers.etag) });
    expect([first.status, second.status, second.body.length]).toEqual([200, 304, 0]);
    expect((await get({ "If-None-Match": '"another"' })).status).toBe(200);
  });
});
