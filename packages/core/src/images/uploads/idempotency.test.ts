import { createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import { type CallOptions, createCall, PNG } from "../../../test/calls.ts";
import {
  type Answer,
  created,
  createSite,
  eventually,
  type ImageSite,
  keysOf,
} from "../../../test/image-site.ts";
import { anotherProcess, createLifeSite, HOUR, STORES, willingRenderer } from "../../../test/life-site.ts";
import type { Call } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";

const KEY = "8e03978e-40d5-43dd-bc93-6894a57f9324";
const OTHER_FILE = Buffer.concat([PNG, Buffer.from("another")]);

function create(site: ImageSite, { headers, ...options }: CallOptions = {}): Promise<Answer> {
  return site.create({ headers: { "idempotency-key": KEY, ...headers }, ...options });
}

/** A create with `changes` of the call, such as another client address. */
async function createAs(site: ImageSite, changes: Partial<Call>): Promise<unknown> {
  const headers = { "idempotency-key": KEY };
  const reply = await site.images.handle({
    ...createCall("POST", "/api/images.json", { headers }),
    ...changes,
  });
  return reply?.headers["X-Service-Image-Id"];
}

async function imagesIn(site: ImageSite): Promise<number> {
  return (await keysOf(site.store)).filter((key) => key.endsWith("/record")).length;
}

function withoutLength({ headers }: Answer): Record<string, unknown> {
  return { ...headers, "Content-Length": null };
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("a repeated create gets the first answer from every process and creates no second image", async () => {
    const site = createLifeSite({ store: createStore() });
    const other = anotherProcess(site);
    const first = await create(site);
    expect(first.status).toBe(201);
    for (const process of [site, other]) {
      const again = await create(process);
      expect([again.status, again.json, again.headers]).toEqual([first.status, first.json, first.headers]);
    }
    expect(await imagesIn(site)).toBe(1);
    const text = await site.send("POST", "/api/images.txt", { headers: { "idempotency-key": KEY } });
    expect(text.text).toBe(`${first.json.url}\n`);
  });

  test("twenty concurrent creates on two processes create one image, and each answers its ID or 409", async () => {
    const site = createLifeSite({ store: createStore() });
    const other = anotherProcess(site);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => create(index % 2 === 0 ? site : other)),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(made.length).toBeGreaterThanOrEqual(1);
    expect(new Set(made.map(({ json }) => json.id)).size).toBe(1);
    for (const { status, headers } of answers) {
      if (status !== 201) expect([status, headers["Retry-After"]]).toEqual([409, "2"]);
    }
    expect(await imagesIn(site)).toBe(1);
    expect([...site.errors, ...other.errors]).toEqual([]);
  });
});

test("a second create during the first answers 409 with Retry-After, and later the first answer", async () => {
  const renderer = createFakeRenderer();
  const site = createLifeSite({ renderer });
  const first = create(site);
  const admitting = await renderer.next();
  const second = await create(site);
  expect([second.status, second.headers["Retry-After"]]).toEqual([409, "2"]);
  expect(second.json.detail).toBe("The first request with this Idempotency-Key is still running.");
  admitting.accept();
  const { json } = await first;
  expect((await create(site)).json).toEqual(json);
});

test("another file, name or expiry under the same Idempotency-Key answers 409", async () => {
  const rows: [string, CallOptions][] = [
    ["another file", { file: OTHER_FILE }],
    ["another name", { search: "name=Other" }],
    ["another expiry", { search: "expiresAt=2026-03-02T00:00:00.000Z" }],
  ];
  for (const [what, options] of rows) {
    const site = createLifeSite();
    await create(site);
    const answer = await create(site, options);
    expect([answer.status, answer.json.detail], what).toEqual([
      409,
      "This Idempotency-Key was sent before with another upload. Use a new one.",
    ]);
    expect(await imagesIn(site)).toBe(1);
  }
});

test("another Idempotency-Key creates another image, and every create without a key creates one", async () => {
  const site = createLifeSite();
  const ids = new Set<unknown>();
  for (const headers of [{}, { "idempotency-key": "another" }])
    ids.add((await create(site, { headers })).json.id);
  for (let count = 0; count < 2; count++) ids.add((await site.create()).json.id);
  expect(ids.size).toBe(4);
});

test("a quoted and a bare Idempotency-Key are the same key", async () => {
  const site = createLifeSite();
  const first = await create(site);
  const quoted = await create(site, { headers: { "idempotency-key": `"${KEY}"` } });
  expect(quoted.json.id).toBe(first.json.id);
});

test("a malformed Idempotency-Key answers 400 and stores nothing", async () => {
  for (const key of ["", " ", "two words", "a,b c", '"', '""', "ü", "x".repeat(256), 'a"b', "a\\b"]) {
    const site = createLifeSite();
    const answer = await create(site, { headers: { "idempotency-key": key } });
    expect(answer.status, key).toBe(400);
    expect(await keysOf(site.store)).toEqual([]);
  }
});

test("an Idempotency-Key of 255 characters is accepted", async () => {
  const site = createLifeSite();
  expect((await create(site, { headers: { "idempotency-key": "!".repeat(255) } })).status).toBe(201);
});

test("after a rejected upload the Idempotency-Key can be used for the same file or another", async () => {
  const renderer = willingRenderer();
  const site = createLifeSite({ renderer });
  renderer.answer = ({ refuse }) => refuse(new ServiceError("unsupported_media", "Its pixels end early."));
  expect((await create(site)).status).toBe(415);
  expect((await create(site)).status).toBe(415);
  renderer.answer = ({ accept }) => accept();
  expect((await create(site, { file: OTHER_FILE })).status).toBe(201);
  expect((await create(site)).status).toBe(409);
});

test("equal Idempotency-Keys of different clients or owners are different keys", async () => {
  const owners: (string | undefined)[] = ["Anna", "Berta", undefined, undefined, "Anna"];
  const addresses = ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.2"];
  let owner: string | undefined;
  const site = createLifeSite({ authorize: () => (owner === undefined ? undefined : { owner }) });
  const ids: unknown[] = [];
  for (const [index, name] of owners.entries()) {
    owner = name;
    ids.push(await createAs(site, { clientIp: addresses[index] ?? "" }));
  }
  expect(new Set(ids.slice(0, 4)).size).toBe(4);
  // The key of an owner is the same from every address.
  expect(ids[4]).toBe(ids[0]);
});

describe("an Idempotency-Key of a client without an owner", () => {
  const agent = "Gallery/2.0 (phone)";
  const createFrom = async (site: ImageSite, clientIp: string, userAgent = agent) =>
    created(await create(site, { clientIp, headers: { "user-agent": userAgent } }));

  test("answers that client's retry with the first PIN, also from another port of its proxy", async () => {
    const site = createLifeSite();
    const first = await createFrom(site, "2001:db8::1");
    for (const spelling of ["2001:db8::1", "[2001:db8:0::1]:40000", "[2001:DB8::1]:40001"])
      expect(await createFrom(site, spelling)).toEqual(first);
  });

  test.each([
    ["another address", "203.0.113.8", agent],
    ["a neighbour behind the same NAT with another User-Agent", "203.0.113.7", "Gallery/2.1 (phone)"],
  ])(
    "makes an image of its own for %s, and tells nothing of the first",
    async (_what, clientIp, userAgent) => {
      const site = createLifeSite();
      const first = await createFrom(site, "203.0.113.7");
      const other = await createFrom(site, clientIp, userAgent);
      expect([other.id === first.id, other.pin === first.pin]).toEqual([false, false]);
      expect(await createFrom(site, "203.0.113.7")).toEqual(first);
    },
  );

  test("makes an image of its own for a neighbour in the same /64, and tells nothing of the first", async () => {
    const site = createLifeSite();
    const first = await createFrom(site, "2001:db8::1");
    const neighbour = await createFrom(site, "2001:db8::2");
    expect([neighbour.id === first.id, neighbour.pin === first.pin]).toEqual([false, false]);
    expect(await imagesIn(site)).toBe(2);
  });
});

test("an owner named like a client address cannot use that client's Idempotency-Keys", async () => {
  let owner: string | undefined;
  const site = createLifeSite({ authorize: () => (owner === undefined ? undefined : { owner }) });
  const first = await createAs(site, {});
  for (const name of ["client 192.0.2.1", "192.0.2.1", "client 192.0.2.1 Test/1.0"]) {
    owner = name;
    expect(await createAs(site, {})).not.toBe(first);
  }
});

describe("after a create answered 202", () => {
  const later = { headers: { prefer: "respond-async" } };

  test("a repeated create answers the same image, during its processing and afterwards", async () => {
    const renderer = createFakeRenderer();
    const site = createSite({ renderer, sweepEveryMs: false });
    const first = await create(site, later);
    expect(first.status).toBe(202);
    const again = await create(site, later);
    expect([again.status, again.json]).toEqual([202, first.json]);
    expect(withoutLength(again)).toEqual(withoutLength(first));
    (await renderer.next()).accept();
    await eventually(async () => expect((await create(site)).status).toBe(201));
    const done = await create(site);
    expect(done.json).toMatchObject({ id: first.json.id, pin: first.json.pin, status: "ready" });
    expect(await imagesIn(site)).toBe(1);
  });
});

test("a late repetition of a create does not create its deleted image again", async () => {
  const site = createLifeSite();
  const first = created(await create(site));
  await site.images.remove(first.id);
  site.clock.now += HOUR;
  const again = await create(site);
  expect([again.status, again.json.id]).toEqual([201, first.id]);
  expect(await imagesIn(site)).toBe(1);
  expect((await site.send("GET", `/${first.id}`)).status).toBe(410);
});
