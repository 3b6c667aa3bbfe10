import { createImagesClient } from "@outrigger/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pngPhoto } from "./support/pictures.ts";
import { startSite } from "./support/quick-site.ts";
import { addressOf, type Created, type Site } from "./support/service.ts";

/** What breaks markup, Markdown or lines, and marks of the text direction. */
const HOSTILE = `"Two" 'boats' <b>[at](dusk)</b> & \`code\`\\ \u05d1\u200f`;
const AGENT = { "User-Agent": "OutriggerTest/1.0" };

let site: Site;
let png: Buffer;

beforeAll(async () => {
  site = await startSite();
  png = await pngPhoto(60, 40);
});
afterAll(() => site.close());

function post(fields: Record<string, string>, query = "", headers = {}): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  body.set("imagedata", new Blob([new Uint8Array(png)], { type: "image/png" }), "boats.png");
  return fetch(`${site.base}/api/images.json${query}`, {
    method: "POST",
    body,
    headers: { ...AGENT, ...headers },
  });
}
const created = async (description: string) => (await (await post({ description })).json()) as Created;
const described = async (id: string) =>
  ((await (await fetch(addressOf(site, id, "json"))).json()) as Created).description;

test("POST takes a description of 1000 characters from the form or the query, and refuses a longer one", async () => {
  const longest = "😀".repeat(1000);
  for (const [fields, query, description] of [
    [{ description: longest }, "", longest],
    [{}, `?description=${encodeURIComponent("At\ndusk")}`, "At dusk"],
    [{ description: "form" }, "?description=query", "form"],
    [{ description: " \r\n" }, "", null],
    [{}, "", null],
  ] as const) {
    const response = await post({ ...fields }, query);
    const record = (await response.json()) as Created;
    expect([response.status, record.description]).toEqual([201, description]);
    expect(await described(record.id)).toBe(description);
  }
  const refused = await post({ description: `${longest}x` });
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { detail: "description must have at most 1000 characters" },
  ]);
});

test("an idempotency key repeats the upload with the same description, and conflicts with another", async () => {
  const key = { "Idempotency-Key": '"a-key"' };
  const first = (await (await post({ description: "One." }, "", key)).json()) as Created;
  expect(((await (await post({ description: "One." }, "", key)).json()) as Created).id).toBe(first.id);
  expect((await post({ description: "Two." }, "", key)).status).toBe(409);
});

test("PATCH changes the description alone, keeps it otherwise, and null or an empty value removes it", async () => {
  const { id, pin } = await created("Old.");
  const patch = async (body: string, type = "application/json") => {
    const headers = { "Content-Type": type, "X-Service-Image-Pin": pin };
    const response = await fetch(addressOf(site, id, "json"), { method: "PATCH", headers, body });
    return [response.status, ((await response.json()) as Created).description];
  };
  expect(await patch('{"description":"New."}')).toEqual([200, "New."]);
  expect(await patch('{"name":"renamed.png"}')).toEqual([200, "New."]);
  expect(await patch('{"description":null}')).toEqual([200, null]);
  expect(
    await patch(`description=${encodeURIComponent(HOSTILE)}`, "application/x-www-form-urlencoded"),
  ).toEqual([200, HOSTILE]);
  for (const wrong of ['{"description":5}', `{"description":"${"x".repeat(1001)}"}`, "{}"]) {
    expect(await patch(wrong)).toEqual([400, undefined]);
  }
  expect(await described(id)).toBe(HOSTILE);
  expect(await patch("description=", "application/x-www-form-urlencoded")).toEqual([200, null]);
});

test("in code, add, find, edit and list have the description, and an idempotency key counts it", async () => {
  const { images } = site;
  const one = await images.add(png, { description: "One.", idempotencyKey: "in-code" });
  expect((await images.add(png, { description: "One.", idempotencyKey: "in-code" })).id).toBe(one.id);
  for (const description of ["Two.", undefined]) {
    const other = images.add(png, { ...(description && { description }), idempotencyKey: "in-code" });
    await expect(other).rejects.toMatchObject({ code: "conflict" });
  }
  expect((await images.find(one.id)).description).toBe("One.");
  const listed = async () => {
    for await (const image of images.list()) if (image.id === one.id) return image.description;
    return undefined;
  };
  expect(await listed()).toBe("One.");
  expect((await images.edit(one.id, { description: HOSTILE })).description).toBe(HOSTILE);
  expect((await images.edit(one.id, { focus: [0, 0] })).description).toBe(HOSTILE);
  expect(await images.edit(one.id, { description: null })).toMatchObject({
    description: null,
    focus: [0, 0],
  });
  await expect(images.add(png, { description: "x".repeat(1001) })).rejects.toMatchObject({
    code: "bad_request",
  });
});

test("the client uploads and edits the description", async () => {
  const client = createImagesClient({ baseUrl: site.base });
  const file = new File([new Uint8Array(png)], "boats.png", { type: "image/png" });
  const image = await client.upload(file, { description: HOSTILE });
  expect(image.description).toBe(HOSTILE);
  const removed = await client.edit(image.id, image.pin, { description: "" });
  expect(removed.description).toBeNull();
});

test("the viewer escapes the description in the alternative text, the tags of previews and the snippets", async () => {
  const { url } = await created(HOSTILE);
  const page = await (await fetch(`${url}/view`)).text();
  const text = HOSTILE.replace(/[&<>"'`]/g, (found) => {
    return (
      { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "`": "&#96;" }[found] ?? found
    );
  });
  expect(page).toContain(`alt="${text}"`);
  expect(page).toContain(`property="og:image:alt" content="${text}"`);
  expect(page).toContain(`name="twitter:image:alt" content="${text}"`);
  expect(page).toContain(
    "[![&quot;Two&quot; &#39;boats&#39; \\&lt;b\\&gt;\\[at\\](dusk)\\&lt;/b\\&gt; &amp; ",
  );
  expect(page).not.toContain("<b>[at]");
  expect(page).toContain('<h1 dir="auto"');
  expect(page).toMatch(/<h1[^>]*>boats\.png<\/h1>/);
});

test("the edit form shows, keeps and removes the description, and the upload form takes one", async () => {
  const { id, pin } = await created(HOSTILE);
  const address = `${site.base}/${id}/edit?pin=${pin}`;
  const send = async (fields: Record<string, string>) => {
    const body = new URLSearchParams({ action: "update", pin, ...fields });
    return fetch(address, { method: "POST", body, headers: { Origin: site.origin }, redirect: "manual" });
  };
  expect(await (await fetch(address)).text()).toContain('name="description" value="&quot;Two&quot; ');
  expect((await send({ name: "kept.png" })).headers.get("location")).toMatch(/&done=name$/);
  expect(await described(id)).toBe(HOSTILE);
  const long = await send({ name: "kept.png", description: "x".repeat(1001) });
  expect([long.status, await long.text()]).toEqual([
    400,
    expect.stringContaining("at most 1,000 characters"),
  ]);
  expect((await send({ name: "kept.png", description: "New." })).headers.get("location")).toMatch(
    /&done=description$/,
  );
  expect(await (await fetch(`${address}&done=description`)).text()).toContain("Description updated.");
  await send({ name: "kept.png", description: "" });
  expect(await (await fetch(`${address}&done=description`)).text()).toContain("Description removed.");
  expect(await described(id)).toBeNull();

  const body = new FormData();
  body.set("description", "From the form.");
  body.set("imagedata", new Blob([new Uint8Array(png)], { type: "image/png" }), "boats.png");
  const form = await fetch(`${site.base}/`, {
    method: "POST",
    body,
    headers: { ...AGENT, Origin: site.origin },
  });
  expect(form.status).toBe(201);
  expect(await described(/([\w-]{22})$/.exec(form.headers.get("location") ?? "")?.[1] ?? "")).toBe(
    "From the form.",
  );
});
