import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { jpeg, serve, temporaryDirectory, uploaded } from "../../../test/outrigger-process.ts";

const KEY = "key-0123456789-secret";

it("serve logs no PIN, upload ticket, key or cookie at any level", async () => {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify({ log: { level: "trace" } }));
  const server = serve(cwd);
  const url = await server.url;
  const image = await uploaded(url, await jpeg());
  const other = await uploaded(url, await jpeg());
  const { id, pin } = image;
  const made = await fetch(`${url}/api/tickets.json`, { method: "POST" });
  const ticketUrl: string = (await made.json()).url;
  const ticket = ticketUrl.slice(ticketUrl.indexOf("=") + 1);
  const form = new FormData();
  form.set("imagedata", new Blob([new Uint8Array(await jpeg())], { type: "image/jpeg" }));
  const record = `${url}/api/images/${id}.json`;
  const spelled = `${pin.slice(0, 4)}-${pin.slice(4, 8)}-${pin.slice(8, 12)}-${pin.slice(12)}`.toLowerCase();

  const requests: [string, RequestInit, number][] = [
    [image.editUrl, { headers: { Accept: "text/html" } }, 200],
    [
      image.url,
      {
        headers: {
          Referer: image.editUrl,
          Cookie: `pin=${pin}; session=${KEY}`,
          Authorization: `Bearer ${KEY}`,
          "X-Api-Key": KEY,
          "X-Original-Url": `/${id}/edit?pin=${pin}`,
        },
      },
      200,
    ],
    [`${url}/${id}/edit`, { method: "POST", body: new URLSearchParams({ pin, action: "nonsense" }) }, 400],
    [`${url}/${id}/edit?%70in=${pin}`, {}, 200],
    [`${url}/${id}/edit?pin=${spelled}`, {}, 200],
    [`${url}/${id}/edit%3Fpin=${pin}`, {}, 404],
    [`${url}/${id}/${pin}`, {}, 404],
    [`${url}/${id}/${spelled}`, {}, 404],
    [ticketUrl, { method: "POST", body: form, headers: { Referer: ticketUrl } }, 201],
    [`${ticketUrl}A`, { method: "POST", body: form }, 403],
    [`${url}/api/images.json?x=1&%74icket=${ticket}`, {}, 405],
    [ticketUrl.replace("?", "%3F"), {}, 404],
    [ticketUrl.replace("?", "%3f").replace("=", "%3D"), {}, 404],
    [`${url}/nothing?api_key=${KEY}&pin=${pin}`, {}, 404],
    [`${record}?PIN=${pin}`, {}, 200],
    [`${record}?pin=${pin}`, { method: "PUT" }, 405],
    [`${record}?pin=${other.pin}`, { method: "DELETE" }, 403],
    [record, { method: "PATCH", headers: json({ "X-Service-Image-Pin": pin }), body: '{"name":"a"}' }, 200],
    [record, { method: "PATCH", headers: json({}), body: JSON.stringify({ name: "b", pin }) }, 200],
    [record, { method: "PATCH", headers: json({}), body: `{"pin":"${pin}"` }, 400],
    [`${record}?pin=${pin}`, { method: "DELETE" }, 204],
    [`${record}?pin=${pin}`, { method: "DELETE" }, 410],
  ];
  for (const [address, init, status] of requests) {
    const response = await fetch(address, { redirect: "manual", ...init });
    await response.arrayBuffer();
    expect([address, response.status]).toEqual([address, status]);
  }
  server.child.kill("SIGTERM");
  expect(await server.exit).toBe(0);

  const { stderr, stdout } = server.output;
  const all = (stderr + stdout).toUpperCase();
  for (const secret of [pin, spelled, other.pin, ticket, KEY])
    expect(all).not.toContain(secret.toUpperCase());

  // The log has a line for every request, with its headers at this level.
  const lines: Record<string, unknown>[] = stderr
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const answered = lines.filter(({ msg }) => msg === "answered");
  expect(answered).toHaveLength(requests.length + 3);
  expect(answered[0]).toMatchObject({ level: 30, method: "POST", path: "/api/images.json", status: 201 });
  expect(answered[3]).toMatchObject({ method: "GET", path: `/${id}/edit`, status: 200 });
  for (const line of answered) {
    expect(line).toEqual({
      level: 30,
      time: expect.any(Number),
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      method: expect.any(String),
      path: expect.any(String),
      status: expect.any(Number),
      ms: expect.any(Number),
      bytes: expect.any(Number),
      msg: "answered",
    });
    expect(line.bytes).toBeGreaterThan(100);
  }
  const visit = lines.find(({ headers }) => headers !== undefined && "referer" in (headers as object));
  expect(visit?.headers).toMatchObject({ referer: `${url}/${id}/edit` });
});

function json(headers: Record<string, string>): Record<string, string> {
  return { "Content-Type": "application/json", ...headers };
}
