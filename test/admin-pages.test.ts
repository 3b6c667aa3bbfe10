import { createMemoryBlobStore, ServiceError } from "@outrigger/core";
import { createAdminPages } from "@outrigger/web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startHost } from "./support/hosts.ts";
import type { Host } from "./support/listen.ts";
import { jpegPhoto } from "./support/pictures.ts";
import { startSite } from "./support/quick-site.ts";
import { addressOf, type Site, upload } from "./support/service.ts";

const SAME_ORIGIN = { "Sec-Fetch-Site": "same-origin" };

let site: Site;
let admin: Host;
let photo: Buffer;
/** The operator of each request; `false`: no operator. */
let operator: { by: string } | boolean | undefined = { by: "anna" };
let asked = 0;
const createOptions = (images = site.images) => ({
  images,
  authorize: () => {
    asked++;
    return operator;
  },
});

beforeAll(async () => {
  [photo, site] = await Promise.all([jpegPhoto(100, 80), startSite()]);
  admin = await startHost("Express 5", createAdminPages(createOptions()), "/admin/images");
});
afterAll(async () => {
  await admin.close();
  await site.close();
});

const mine = async (name = "photo") => (await upload(site, photo, "image/jpeg", { name })).id;
const page = async (search = "") => (await fetch(`${admin.base}/${search}`)).text();
const statusOf = async (id: string) => (await fetch(addressOf(site, id, "jpg"))).status;

function send(
  fields: Record<string, string>,
  headers: Record<string, string> = SAME_ORIGIN,
  base = admin.base,
) {
  return fetch(`${base}/`, { method: "POST", body: new URLSearchParams(fields), headers });
}

/** The list with one image alone. */
const found = async (id: string) => (await send({ act: "find", links: id })).text();

/** Performs an act on images as the form does. */
async function act(name: string, ids: string[], more: Record<string, string> = {}): Promise<string> {
  const chosen = Object.fromEntries(ids.map((id) => [id, "yes"]));
  return (await send({ act: name, shown: ids.join(" "), ...chosen, ...more })).text();
}

describe("createAdminPages()", () => {
  test.each([false, undefined])(
    "answers 403 to every request where authorize returns %s",
    async (decision) => {
      const id = await mine();
      const { by } = { by: operator };
      operator = decision;
      try {
        const before = asked;
        const replies = await Promise.all([
          fetch(`${admin.base}/`),
          fetch(`${admin.base}/${id}.jpg`),
          send({ act: "remove", shown: id, all: "yes", confirm: "yes" }),
        ]);
        expect(replies.map(({ status }) => status)).toEqual([403, 403, 403]);
        expect(asked - before).toBe(3);
        expect((await Promise.all(replies.map((reply) => reply.text()))).join()).not.toContain(id);
      } finally {
        operator = by;
      }
      expect(await statusOf(id)).toBe(200);
    },
  );

  test("answers 500, and not as a permission, where authorize returns another value", async () => {
    const before = operator;
    operator = 1 as never;
    const { status } = await fetch(`${admin.base}/`);
    operator = { by: "" };
    expect([status, (await fetch(`${admin.base}/`)).status]).toEqual([500, 500]);
    operator = before;
  });

  test("leaves other paths to the host, and answers 405 to other methods", async () => {
    expect((await fetch(`${admin.base}/other`)).status).toBe(404);
    const reply = await fetch(`${admin.base}/`, { method: "DELETE" });
    expect([reply.status, reply.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"]);
    const head = await fetch(`${admin.base}/`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  test.each(["Koa 3", "node:http"] as const)("is served by %s", async (host) => {
    const id = await mine();
    const mounted = await startHost(host, createAdminPages(createOptions()), "/admin");
    await expect.poll(async () => (await fetch(`${mounted.base}/`)).text()).toContain(`/admin/${id}.jpg`);
    expect((await fetch(`${mounted.base}/${id}.jpg`)).headers.get("content-type")).toBe("image/jpeg");
    const reply = await send(
      { act: "withhold", shown: id, [id]: "yes", reason: "x" },
      SAME_ORIGIN,
      mounted.base,
    );
    expect(await reply.text()).toContain("1 image withheld.");
    await mounted.close();
  });
});

describe("a form", () => {
  test("is refused from another site, and without a header and a token", async () => {
    const id = await mine();
    const fields = { act: "withhold", shown: id, [id]: "yes", reason: "x" };
    for (const headers of [{ "Sec-Fetch-Site": "cross-site" }, { "Sec-Fetch-Site": "same-site" }, {}]) {
      expect((await send(fields, headers)).status).toBe(403);
    }
    const [, token = ""] = /name="token" value="([^"]+)"/.exec(await page()) ?? [];
    expect((await send({ ...fields, token }, { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    expect((await send({ ...fields, token: `${token}x` }, {})).status).toBe(403);
    expect(await statusOf(id)).toBe(200);
  });

  test("with the token of the page is accepted by another node, for the same operator alone", async () => {
    const storage = createMemoryBlobStore();
    const secret = "s".repeat(32);
    const nodes = await Promise.all([
      startSite({ storage, secret }),
      startSite({ storage: { ...storage, close: async () => {} }, secret }),
    ]);
    const [one, two] = await Promise.all(
      nodes.map(({ images }) => startHost("Express 5", createAdminPages(createOptions(images)), "/admin")),
    );
    const { id } = await upload(nodes[0], photo, "image/jpeg");
    const [, token = ""] =
      /name="token" value="([^"]+)"/.exec(await (await fetch(`${one?.base}/`)).text()) ?? [];
    const fields = { act: "withhold", shown: id, [id]: "yes", reason: "x", token };
    operator = { by: "ben" };
    expect((await send(fields, {}, two?.base)).status).toBe(403);
    operator = { by: "anna" };
    expect((await send(fields, {}, two?.base)).status).toBe(200);
    for (const closed of [one, two, nodes[1], nodes[0]]) await closed?.close();
  });

  test("needs an image, a reason and a confirmation, and keeps what was typed", async () => {
    const id = await mine();
    const reply = async (fields: Record<string, string>) => {
      const sent = await send({ shown: id, ...fields });
      return [sent.status, await sent.text()] as const;
    };
    expect(await reply({ act: "withhold", reason: "x" })).toEqual([
      400,
      expect.stringContaining("at least one image"),
    ]);
    expect(await reply({ act: "withhold", [id]: "yes", reason: " " })).toEqual([
      400,
      expect.stringContaining("Give a reason"),
    ]);
    expect(await reply({ act: "", [id]: "yes" })).toEqual([
      400,
      expect.stringContaining("Choose what to do"),
    ]);
    expect(await reply({ act: "toString", [id]: "yes" })).toEqual([
      400,
      expect.stringContaining("Choose what to do"),
    ]);
    expect(await reply({ act: "remove", [id]: "yes" })).toEqual([400, expect.stringContaining("tick")]);
    expect((await reply({ act: "keep", [id]: "yes", reason: "x".repeat(1001) }))[0]).toBe(400);
    const wrong = { act: "withhold", [id]: "yes", reason: '"><b>', authority: "javascript:alert(1)" };
    const [status, text] = await reply(wrong);
    expect(status).toBe(400);
    expect(text).toContain('value="&quot;&gt;&lt;b&gt;"');
    expect(await statusOf(id)).toBe(200);
  });
});

describe("the list", () => {
  test("withholds, releases and deletes many images at once, and says of each failure why", async () => {
    const ids = [await mine(), await mine(), await mine()] as [string, string, string];
    const withheld = await act("withhold", ids.slice(0, 2), {
      reason: "A claim.",
      authority: "https://example.com/7",
    });
    expect(withheld).toContain("2 images withheld.");
    expect(await Promise.all(ids.map(statusOf))).toEqual([451, 451, 200]);
    expect((await fetch(addressOf(site, ids[0], "jpg"))).headers.get("link")).toContain(
      "https://example.com/7",
    );
    expect(await page("?show=withheld")).toContain(`${ids[0]}.jpg`);
    expect(await page("?show=withheld")).not.toContain(`${ids[2]}.jpg`);
    expect(await act("release", [ids[0]])).toContain("1 image released.");
    expect(await act("remove", [ids[2]], { confirm: "yes" })).toContain("1 image deleted.");
    // Another operator was faster.
    const late = await act("remove", [ids[1], ids[2]], { confirm: "yes" });
    expect(late).toContain("1 image deleted.");
    expect(late).toMatch(new RegExp(`1 not deleted:.*${ids[2]}.*deleted`, "s"));
    expect(await Promise.all(ids.map(statusOf))).toEqual([200, 451, 410]);
  });

  test("releases with its copies all that one takedown withheld, names what another decision withholds, and accepts the file again", async () => {
    const file = await jpegPhoto(64, 48);
    const send = async () => (await upload(site, file, "image/jpeg", { name: "copy" })).id;
    const [one, two, other] = [await send(), await send(), await send()];
    await act("withhold", [other], { reason: "Another claim." });
    expect(await found(one)).toContain("2 identical images");
    await act("withhold", [one], { reason: "A claim.", copies: "yes" });
    expect(await page("?show=withheld")).toContain("re-uploads blocked");
    const text = await act("release", [one], { together: "yes" });
    expect(text).toContain("2 images released.");
    expect(text).toMatch(new RegExp(`1 identical image stays withheld by another decision:.*${other}`, "s"));
    expect(await Promise.all([one, two, other].map(statusOf))).toEqual([200, 200, 451]);
    await send();
  });

  test("blocks re-uploads of a file, says that the image stays, shows it on its card, and accepts the file again", async () => {
    const file = await jpegPhoto(72, 48);
    const { id } = await upload(site, file, "image/jpeg");
    expect(await found(id)).toContain("Block re-uploads of this file (this image stays)");
    const text = await act("deny", [id], { reason: "No." });
    expect(text).toContain("Re-uploads of 1 file blocked. The image stays.");
    expect(await found(id)).toContain("re-uploads blocked");
    expect(await statusOf(id)).toBe(200);
    await expect(site.images.add(file)).rejects.toMatchObject({ code: "forbidden" });
    expect(await act("allow", [id])).toContain("1 file can be uploaded again.");
    expect(await found(id)).not.toContain("re-uploads blocked");
    await site.images.add(file);
  });

  test("asks once before it refuses or deletes, and says how many images would end", async () => {
    const ids = [await mine(), await mine()];
    for (const name of ["refuse", "remove"]) {
      expect(await act(name, ids, { reason: "No." })).toContain("2 images would end for good");
    }
    expect(await found(ids[0] ?? "")).toContain("Yes, delete or refuse for good");
    expect(await Promise.all(ids.map(statusOf))).toEqual([200, 200]);
  });

  test("two operators who delete the same images at the same time both get a list of outcomes", async () => {
    const ids = [await mine(), await mine()];
    const replies = await Promise.all([1, 2].map(() => act("remove", ids, { confirm: "yes" })));
    for (const text of replies) expect(text).toMatch(/deleted\.|not deleted:/);
    expect(await Promise.all(ids.map(statusOf))).toEqual([410, 410]);
  });

  test("finds pasted links and IDs, in any state, and acts on all of them", async () => {
    const ids = [await mine(), await mine()] as [string, string];
    await act("withhold", [ids[0]], { reason: "A claim." });
    const links = `see https://a-host-name-of-22-chars/img/${ids[0]}/view, and\n${ids[1]}`;
    const found = await (await send({ act: "find", links })).text();
    for (const id of ids) expect(found).toContain(`/${id}.jpg`);
    expect(found).toContain(`value="${ids.join(" ")}"`.replace(ids.join(" "), ids.toReversed().join(" ")));
    expect((await send({ act: "find", links: "nothing" })).status).toBe(400);
    const many = Array.from({ length: 101 }, (_, at) => String(at).padStart(22, "x")).join("\n");
    expect(await (await send({ act: "find", links: many })).text()).toContain("at most 100 links");
  });

  test("shows names, owners and reasons as text", async () => {
    const hostile = "<img src=x onerror=alert(1)>\"'`</textarea>";
    const owner = '"><script>alert(2)</script>';
    const added = await site.images.add(photo, { name: hostile, owner });
    await act("withhold", [added.id], { reason: `</p>${hostile}` });
    const text = await page(`?owner=${encodeURIComponent(owner)}`);
    expect(text).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(text).toContain(`${added.id}.jpg`);
    expect(text).not.toMatch(/<img src=x|<script|<\/textarea>"/);
  });
});

test("a ServiceError of authorize is the reply", async () => {
  const pages = createAdminPages({
    images: site.images,
    authorize: () => {
      throw new ServiceError("rate_limited", "Too many.", { retryAfterMs: 5000 });
    },
  });
  const host = await startHost("Express 5", pages, "/admin");
  const reply = await fetch(`${host.base}/`);
  expect([reply.status, reply.headers.get("retry-after")]).toEqual([429, "5"]);
  await host.close();
});
