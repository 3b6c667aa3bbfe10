import { createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test, vi } from "vitest";
import { createCall } from "../../../test/calls.ts";
import { created, createSite, type ImageSite, keysOf, type SiteOptions } from "../../../test/image-site.ts";
import { createLifeSite, readsOf, statusesOf } from "../../../test/life-site.ts";
import { ServiceError } from "../../errors.ts";
import type { Authorize, Decision, ImageAction } from "../authorize.ts";

type Rules = Partial<Record<ImageAction, Decision>>;

/** A site whose rules a test can change at any time. */
function ruledSite(options: SiteOptions = {}) {
  const rules: Rules = {};
  const authorize = vi.fn<Authorize>((_call, action) => rules[action]);
  return { site: createLifeSite({ authorize, ...options }), rules, authorize };
}

async function siteWithImage(rules: Rules, options: SiteOptions = {}) {
  const ruled = ruledSite(options);
  Object.assign(ruled.rules, rules);
  return { ...ruled, ...created(await ruled.site.create()) };
}

const forbidden = { status: 403, title: "Forbidden", detail: "This is not allowed" };

describe("create", () => {
  test("a refused create answers 403 before the body is read or anything is stored", async () => {
    const { site, rules } = ruledSite();
    rules.create = false;
    const upload = vi.fn(() => Promise.reject(new Error("The body was read")));
    for (const path of ["/api/images.json", "/api/images.txt"]) {
      const reply = await site.images.handle({ ...createCall("POST", path), upload });
      expect(reply?.status).toBe(403);
    }
    expect(upload).not.toHaveBeenCalled();
    expect(await keysOf(site.store)).toEqual([]);
    expect(site.errors).toEqual([]);
  });

  test("authorize gets the call of a create, and no image", async () => {
    const { site, authorize } = ruledSite();
    const call = { ...createCall("POST", "/api/images.json"), context: { user: "anna" } };
    await site.images.handle(call);
    expect(authorize.mock.calls).toEqual([[call, "create"]]);
  });
});

test("the owner is stored with the image, passed to authorize, and absent from every reply", async () => {
  const { site, authorize, id, pin } = await siteWithImage({ create: { owner: "user-4711" } });
  const answers = [await site.create()];
  for (const { method, path, headers } of readsOf(id))
    answers.push(await site.send(method, path, { headers }));
  const search = `pin=${pin}`;
  answers.push(await site.send("GET", `/${id}/edit`, { search }));
  answers.push(await site.send("PATCH", `/api/images/${id}.json`, { search, fields: { name: "x" } }));
  expect(authorize.mock.lastCall?.[2]).toMatchObject({ id, owner: "user-4711" });
  answers.push(await site.send("DELETE", `/api/images/${id}.json`, { search }));
  answers.push(await site.send("GET", `/api/images/${id}.json`));
  for (const answer of answers) expect(JSON.stringify(answer)).not.toMatch(/4711|owner/);
});

describe("read", () => {
  test("a refused read answers 403 in every format and page, even with a valid entity tag", async () => {
    const { site, rules, id } = await siteWithImage({});
    expect(await statusesOf(site, readsOf(id))).toEqual([200, 206, 304]);
    rules.read = false;
    expect(await statusesOf(site, readsOf(id))).toEqual([403]);
    const answer = await site.send("GET", `/api/images/${id}.png`);
    expect(answer.json).toMatchObject(forbidden);
    expect(answer.headers["Cache-Control"]).toBe("no-store");
  });

  test("a refused read of an image that is still processed answers 403 and reveals nothing", async () => {
    const renderer = createFakeRenderer();
    const site = createSite({
      renderer,
      sweepEveryMs: false,
      authorize: (_call, action) => (action === "read" ? false : undefined),
    });
    const answer = await site.create({ headers: { prefer: "respond-async" } });
    expect(answer.status).toBe(202);
    const { id } = created(answer);
    for (const path of [`/${id}`, `/${id}/view`, `/api/images/${id}.json`, `/api/images/${id}.jpg`]) {
      const refused = await site.send("GET", path);
      expect([path, refused.status]).toEqual([path, 403]);
      expect(refused.text).not.toContain("picture");
    }
  });

  test("an ended image answers 410, even to a client that may not read it", async () => {
    const { site, rules, id } = await siteWithImage({});
    rules.read = false;
    await site.images.withhold(id, { reason: "By order of the court." });
    expect(await statusesOf(site, readsOf(id))).toEqual([451]);
    await site.images.release(id);
    await site.images.remove(id);
    expect(await statusesOf(site, readsOf(id))).toEqual([410]);
  });

  test.each<[string, Decision, string, string]>([
    ["nothing", undefined, "public, max-age=300, must-revalidate, no-transform", "no-cache"],
    ["true", true, "private, max-age=300, must-revalidate, no-transform", "private, no-cache"],
    [
      "an owner",
      { owner: "anna" },
      "private, max-age=300, must-revalidate, no-transform",
      "private, no-cache",
    ],
  ])("a read decided by %s has the matching Cache-Control", async (_what, decision, picture, landing) => {
    const { site, id } = await siteWithImage({ read: decision });
    for (const { method, path, headers } of readsOf(id)) {
      const answer = await site.send(method, path, { headers });
      const isFile = path.startsWith("/api/");
      const expected = path.endsWith(".json") ? "no-store" : isFile ? picture : landing;
      expect([path, headers, answer.headers["Cache-Control"]]).toEqual([path, headers, expected]);
    }
  });

  test("a public read stays public after a private read of the same image", async () => {
    const { site, rules, id } = await siteWithImage({ read: true });
    const caching = async () =>
      (await site.send("GET", `/api/images/${id}.png`)).headers["Cache-Control"]?.slice(0, 7);
    expect(await caching()).toBe("private");
    rules.read = undefined;
    expect(await caching()).toBe("public,");
    rules.read = true;
    expect(await caching()).toBe("private");
  });
});

describe("edit", () => {
  const change = (site: ImageSite, id: string, search = "") =>
    site.send("PATCH", `/api/images/${id}.json`, { search, fields: { name: "Renamed" } });

  test.each<[string, Rules, number, number]>([
    ["nothing", {}, 403, 200],
    ["true", { edit: true }, 200, 200],
    ["its owner", { create: { owner: "anna" }, edit: { owner: "anna" } }, 200, 200],
    ["another owner", { create: { owner: "anna" }, edit: { owner: "berta" } }, 403, 200],
    ["an owner where the image has none", { edit: { owner: "berta" } }, 403, 200],
    ["false", { edit: false }, 403, 403],
  ])("an edit decided by %s needs the PIN or not, accordingly", async (_what, rules, without, withPin) => {
    const { site, id, pin } = await siteWithImage(rules);
    expect((await change(site, id)).status).toBe(without);
    expect((await change(site, id, `pin=${pin}`)).status).toBe(withPin);
    const form = await site.send("GET", `/${id}/edit`);
    expect(form.status).toBe(without);
    if (without === 200) expect(form.text).toBe(`edit Renamed with ${pin}`);
    const removed = await site.send("DELETE", `/api/images/${id}.json`);
    expect(removed.status).toBe(without === 200 ? 204 : 403);
  });

  test("an owner gets the form with the PIN in it, and cannot send it without that PIN", async () => {
    const { site, id, pin } = await siteWithImage({ create: { owner: "anna" }, edit: { owner: "anna" } });
    const send = (fields: Record<string, unknown>, search = "") =>
      site.send("POST", `/${id}/edit`, { fields, search });
    for (const fields of [
      { action: "delete", confirm: "yes" },
      { action: "update", name: "Renamed", pin: "" },
      { action: "update", name: "Renamed", pin: "0000000000000000" },
    ]) {
      expect((await send(fields)).status).toBe(403);
    }
    expect((await site.send("GET", `/api/images/${id}.json`)).json.name).toBe("picture.png");
    expect((await send({ action: "update", name: "Renamed", pin })).status).toBe(303);
    expect((await site.send("GET", `/api/images/${id}.json`)).json.name).toBe("Renamed");
  });

  test("authorize gets the summary of the image of an edit", async () => {
    const { site, authorize, id } = await siteWithImage({ create: { owner: "anna" }, edit: true });
    await change(site, id);
    const [, action, image] = authorize.mock.lastCall ?? [];
    expect([action, image]).toEqual([
      "edit",
      {
        id,
        name: "picture.png",
        description: null,
        type: "image/png",
        size: 34,
        owner: "anna",
        createdAt: Date.parse("2026-03-01T12:00:00.000Z"),
        expiresAt: Date.parse("2026-03-02T12:00:00.000Z"),
      },
    ]);
  });
});

describe("authorize itself", () => {
  const actions: [ImageAction, string, string][] = [
    ["create", "POST", "/api/images.json"],
    ["read", "GET", "/api/images/ID.png"],
    ["edit", "DELETE", "/api/images/ID.json"],
  ];

  async function under(authorize: Authorize, options: SiteOptions = {}) {
    let isOn = false;
    const site = createLifeSite({
      authorize: (...args) => (isOn ? authorize(...args) : undefined),
      ...options,
    });
    const { id } = created(await site.create());
    isOn = true;
    return { site, id };
  }

  test.each(actions)("authorize may refuse %s with its own ServiceError", async (_action, method, path) => {
    const { site, id } = await under(() => {
      throw new ServiceError("overloaded", "The directory of users is busy.", { retryAfterMs: 7000 });
    });
    const answer = await site.send(method, path.replace("ID", id));
    expect([answer.status, answer.json.detail, answer.headers["Retry-After"]]).toEqual([
      503,
      "The directory of users is busy.",
      "7",
    ]);
    expect(site.errors).toEqual([]);
  });

  test.each(actions)(
    "an error thrown by authorize allows no %s and is not shown",
    async (_action, method, path) => {
      const bug = new TypeError("Cannot read properties of undefined (reading 'role')");
      const { site, id } = await under(async () => {
        throw bug;
      });
      const answer = await site.send(method, path.replace("ID", id));
      expect([answer.status, answer.json.detail]).toEqual([
        500,
        "Something unexpected went wrong. Try again later.",
      ]);
      expect(site.errors).toEqual([bug]);
      const asHost = await under(() => Promise.reject(bug), { errors: "host" });
      await expect(asHost.site.send(method, path.replace("ID", asHost.id))).rejects.toBe(bug);
    },
  );

  test.each<[string, unknown]>([
    ["null", null],
    ["an empty text", ""],
    ["a text", "yes"],
    ["0", 0],
    ["an owner without a name", {}],
    ["an owner with an empty name", { owner: "" }],
    ["an owner whose name is too long", { owner: "x".repeat(257) }],
    ["an owner whose name is a number", { owner: 4711 }],
  ])("an authorize that returns %s allows nothing and answers 500", async (_what, decision) => {
    // Values that JavaScript code may return.
    const { site, id } = await under(() => decision as Decision);
    for (const [, method, path] of actions) {
      const answer = await site.send(method, path.replace("ID", id));
      expect([path, answer.status]).toEqual([path, 500]);
    }
    expect(site.errors).toHaveLength(3);
    expect(site.errors[0]).toMatchObject({ code: "host_misuse" });
  });

  test("authorize is not called for an unknown image", async () => {
    const authorize = vi.fn<Authorize>(() => true);
    const site = createLifeSite({ authorize });
    expect((await site.send("GET", "/api/images/AAAAAAAAAAAAAAAAAAAAAA.png")).status).toBe(404);
    expect(authorize).not.toHaveBeenCalled();
  });
});
