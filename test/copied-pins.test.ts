import { request } from "node:http";
import { createImagesClient, parseImageAddress } from "@outrigger/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { plainPin } from "../packages/client/src/checks.ts";
import { normalisePin } from "../packages/core/src/images/record/pin.ts";
import { pngPhoto } from "./support/pictures.ts";
import { startSite } from "./support/quick-site.ts";
import { type Site, upload } from "./support/service.ts";

let site: Site;
let id: string;
let pin: string;

beforeAll(async () => {
  site = await startSite();
  ({ id, pin } = await upload(site, await pngPhoto(), "image/png"));
});
afterAll(() => site.close());

/** The PIN in four groups, as a program may copy it. */
const copied = (between: string) => `${between}${(pin.match(/.{4}/g) ?? []).join(between)}${between}`;
const path = () => `/api/images/${id}.json`;

/** Status of a change whose header has these bytes. */
function patchWithHeader(bytes: Buffer): Promise<number | undefined> {
  const headers = { "Content-Type": "application/json", "X-Service-Image-Pin": bytes.toString("latin1") };
  return new Promise((resolve, reject) => {
    const sent = request(`${site.base}${path()}`, { method: "PATCH", headers }, (reply) => {
      reply.resume().on("end", () => resolve(reply.statusCode));
    });
    // A text would make Node encode the headers anew.
    sent.on("error", reject).end(Buffer.from('{"name":"header"}'));
  });
}

const BETWEEN: [string, string][] = [
  ["spaces", "  "],
  ["a tab", "\t"],
  ["a no-break space", "\u00a0"],
  ["a narrow no-break space", "\u202f"],
  ["an ideographic space", "\u3000"],
  ["a soft hyphen", "\u00ad"],
  ["a zero width space", "\u200b"],
  ["zero width joiners", "\u200c\u200d"],
  ["a byte order mark", "\ufeff"],
  ["a word joiner", "\u2060"],
  ["bidi marks and isolates", "\u200e\u2066\u2069\u202a\u202c"],
  ["a variation selector", "-\ufe0e"],
  ["a non-breaking hyphen", "\u2011"],
  ["a figure dash", "\u2012"],
  ["an en dash", " \u2013 "],
  ["an em dash", "\u2014"],
  ["a minus sign", "\u2212"],
  ["a full-width hyphen", "\uff0d"],
];

test.each(BETWEEN)(
  "the PIN with %s in it permits a change by header, query, form and JSON",
  async (_, between) => {
    const given = copied(between);
    expect(await patchWithHeader(Buffer.from(given))).toBe(200);
    const patch = async (query: string, body: URLSearchParams | string) =>
      (
        await fetch(`${site.base}${path()}?${query}`, {
          method: "PATCH",
          body,
          ...(typeof body === "string" && { headers: { "Content-Type": "application/json" } }),
        })
      ).status;
    const query = new URLSearchParams({ pin: given });
    expect(await patch(query.toString(), '{"name":"query"}')).toBe(200);
    expect(await patch("", new URLSearchParams({ pin: given, name: "form" }))).toBe(200);
    expect(await patch("", JSON.stringify({ pin: given, name: "JSON" }))).toBe(200);
  },
);

test.each([...BETWEEN, ["line breaks", "\r\n"]])(
  "the PIN with %s in it opens and saves the edit page, and works in the client",
  async (_, between) => {
    const given = copied(between);
    const html = { headers: { Accept: "text/html" }, redirect: "manual" } as const;
    const opened = await fetch(`${site.base}/${id}/edit?${new URLSearchParams({ pin: given })}`, html);
    expect(opened.status).toBe(200);
    expect(await opened.text()).toContain(`name="pin" value="${pin}"`);
    const body = new URLSearchParams({ pin: given, action: "update", name: `page ${between.length}` });
    const saved = await fetch(`${site.base}/${id}/edit`, { ...html, method: "POST", body });
    expect(saved.status).toBe(303);
    expect(saved.headers.get("location")).toContain(`/edit?pin=${pin}&done=`);
    const client = createImagesClient({ baseUrl: site.base });
    expect(await client.edit(id, given, { name: "client" })).toMatchObject({ name: "client" });
    const address = `${site.base}/${id}/edit?pin=${encodeURIComponent(given)}`;
    expect(parseImageAddress(address)).toEqual({ baseUrl: site.base, id, pin });
  },
);

test("a header with a no-break space in latin1 permits a change, and a longer text than 1024 characters does not", async () => {
  expect(await patchWithHeader(Buffer.from(copied("\u00a0"), "latin1"))).toBe(200);
  expect(await patchWithHeader(Buffer.from(copied(" ".repeat(400))))).toBe(403);
});

test("the client deletes an image by its PIN with dashes in it", async () => {
  const { id: other, pin: own } = await upload(site, await pngPhoto(), "image/png");
  const client = createImagesClient({ baseUrl: site.base });
  await client.remove(other, own.replace(/(.{4})(?=.)/g, "$1\u2013"));
  expect((await fetch(`${site.base}/${other}`)).status).toBe(410);
});

test("the client ignores the same characters in a PIN as the service", () => {
  const [start, end] = [pin.slice(0, 8), pin.slice(8)];
  const differing: string[] = [];
  for (let code = 0; code <= 0xe01ff; code = code === 0x1ffff ? 0xe0000 : code + 1) {
    const character = String.fromCodePoint(code);
    const isIgnored = normalisePin(start + character + end) === pin;
    if (isIgnored !== (plainPin(start + character + end) === pin)) differing.push(code.toString(16));
  }
  expect(differing).toEqual([]);
});
