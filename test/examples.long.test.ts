import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type StartedProcess, startProcess } from "./support/start-process.ts";

const TOKEN = "a-token-of-the-editor";
const USER = { Authorization: `Bearer ${TOKEN}` };

const SERVERS = ["express-app/server.js", "express-app/server.cjs", "koa-app/server.js"];

describe.each(SERVERS)("the notes app of examples/%s", (file) => {
  let directory: string;
  let app: StartedProcess;
  let url: string;
  let picture: Buffer;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "outrigger-example-"));
    app = await startProcess([new URL(`../examples/${file}`, import.meta.url)], {
      env: { PORT: "0", DATA: join(directory, "pictures"), NOTES_TOKEN: TOKEN },
    });
    url = app.announced;
    const colour = { r: 200, g: 40, b: 10 };
    picture = await sharp({ create: { width: 40, height: 30, channels: 3, background: colour } })
      .jpeg()
      .toBuffer();
  });

  afterAll(async () => {
    app.child.kill("SIGTERM");
    const code = await app.exit;
    await rm(directory, { recursive: true });
    expect(code).toBe(0);
  });

  function upload(headers: Record<string, string>): Promise<Response> {
    const form = new FormData();
    form.set("imagedata", new File([new Uint8Array(picture)], "red.jpg", { type: "image/jpeg" }));
    return fetch(`${url}/img/api/images.json`, { method: "POST", body: form, headers });
  }

  it("the app keeps its own routes, body parser and authentication", async () => {
    const note = { text: "Hello", picture: `${url}/img/x` };
    const init = { method: "POST", body: JSON.stringify(note) };
    const type = { "Content-Type": "application/json" };
    const refused = await fetch(`${url}/notes`, { ...init, headers: type });
    expect([refused.status, await refused.json()]).toEqual([401, { error: "Sign in first" }]);
    const created = await fetch(`${url}/notes`, { ...init, headers: { ...type, ...USER } });
    expect(created.status).toBe(201);
    expect(await created.json()).toEqual({ id: 1, author: "editor", ...note });
    expect(await (await fetch(`${url}/notes/1`)).json()).toMatchObject({ text: "Hello" });
  });

  it("the app keeps its own 404 and error handler", async () => {
    const unknown = await fetch(`${url}/img/xyz`);
    expect([unknown.status, await unknown.json()]).toEqual([404, { error: "There is no /img/xyz" }]);
    const malformed = await fetch(`${url}/notes`, {
      method: "POST",
      body: "{",
      headers: { "Content-Type": "application/json", ...USER },
    });
    expect(malformed.status).toBe(400);
    expect(await malformed.json()).toEqual({ error: expect.stringContaining("JSON") });
  });

  it("the app refuses uploads without a user", async () => {
    for (const headers of [{}, { Authorization: "Bearer wrong" }]) {
      const refused = await upload(headers);
      expect([refused.status, await refused.json()]).toEqual([401, { error: "Sign in first" }]);
    }
  });

  it("no other spelling of the upload path avoids the authentication", async () => {
    const form = new FormData();
    form.set("imagedata", new File([new Uint8Array(picture)], "red.jpg", { type: "image/jpeg" }));
    const encoded = new Response(form);
    const headers = { "Content-Type": encoded.headers.get("content-type") ?? "", "User-Agent": "test/1.0" };
    const body = Buffer.from(await encoded.arrayBuffer());
    const paths = [
      "/img/api/images.txt",
      "/img/api/images.json/",
      "/img/api/images.json?x#y",
      "/IMG/API/images.json",
      "/img/Api/images.json",
      "/img//api/images.json",
      "//img/api/images.json",
      "/img/api//images.json",
      "/img/./api/images.json",
      "/img/x/../api/images.json",
      "/img/%61pi/images.json",
      "/img/api%2fimages.json",
      "/%69mg/api/images.json",
      "/img/api/%69mages.json",
      `${url}/img/api/images.json`,
    ];
    for (const path of paths) {
      // Unlike fetch, this sends the path as it is.
      const [response] = await once(request(url, { method: "POST", path, headers }).end(body), "response");
      response.resume();
      expect([path, [401, 404].includes(response.statusCode)]).toEqual([path, true]);
    }
  });

  it("the app stores the picture of a user, serves and converts it publicly, and deletes it with its PIN", async () => {
    const created = await upload(USER);
    // A busy machine may answer 202 before the picture is processed.
    expect([201, 202]).toContain(created.status);
    const { id, pin } = (await created.json()) as { id: string; pin: string };
    expect(created.headers.get("location")).toBe(`${url}/img/${id}`);

    const ready = async () => (await fetch(`${url}/img/${id}`)).status;
    await expect.poll(ready).toBe(200);
    const original = await fetch(`${url}/img/${id}`);
    expect(Buffer.from(await original.arrayBuffer()).equals(picture)).toBe(true);
    const png = await fetch(`${url}/img/api/images/${id}.png?resize=20x`);
    const { format, width, height } = await sharp(Buffer.from(await png.arrayBuffer())).metadata();
    expect({ format, width, height }).toEqual({ format: "png", width: 20, height: 15 });
    const viewer = await fetch(`${url}/img/${id}`, { headers: { Accept: "text/html" } });
    expect(await viewer.text()).toContain("red.jpg");

    const record = `${url}/img/api/images/${id}.json`;
    expect((await fetch(record, { method: "DELETE" })).status).toBe(403);
    const removed = await fetch(record, { method: "DELETE", headers: { "X-Service-Image-Pin": pin } });
    expect(removed.status).toBe(204);
    expect((await fetch(`${url}/img/${id}`)).status).toBe(410);
  });

  function signUp(email: unknown): Promise<Response> {
    const headers = { "Content-Type": "application/json" };
    return fetch(`${url}/users`, { method: "POST", body: JSON.stringify({ email }), headers });
  }

  it("sign-up refuses an invalid or disposable address and returns a token for a valid one", async () => {
    const invalid = await signUp("ada..lovelace@example.com");
    expect([invalid.status, await invalid.json()]).toEqual([
      422,
      { error: "This address is invalid", suggestion: null },
    ]);
    const disposable = await signUp("ada@mailinator.com");
    expect([disposable.status, await disposable.json()]).toMatchObject([
      422,
      { error: "This address is disposable" },
    ]);
    for (const email of [undefined, "", "ada", 7]) expect((await signUp(email)).status).toBe(422);

    const created = await signUp("ada@example.com");
    expect(created.status).toBe(201);
    const { name, token } = (await created.json()) as { name: string; token: string };
    expect(name).toBe("ada@example.com");
    const note = await fetch(`${url}/notes`, {
      method: "POST",
      body: JSON.stringify({ text: "Hello" }),
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    });
    expect(await note.json()).toMatchObject({ author: "ada@example.com" });
  });

  it("the avatar route stores a new avatar and removes the previous one", async () => {
    const put = (headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer>) =>
      fetch(`${url}/users/me/avatar`, {
        method: "PUT",
        body,
        headers: { "Content-Type": "image/jpeg", ...headers },
      });
    const bytes = new Uint8Array(picture);
    expect((await put({}, bytes)).status).toBe(401);
    expect((await put(USER, "no picture")).status).toBe(415);
    const first = await put(USER, bytes);
    expect(first.status).toBe(201);
    const { avatar } = (await first.json()) as { avatar: string };
    const shown = await fetch(`${url}${avatar}`);
    const { format, width } = await sharp(Buffer.from(await shown.arrayBuffer())).metadata();
    expect({ format, width }).toEqual({ format: "webp", width: 40 });
    const second = (await (await put(USER, bytes)).json()) as { avatar: string };
    expect((await fetch(`${url}${second.avatar}`)).status).toBe(200);
    expect((await fetch(`${url}${avatar}`)).status).toBe(410);
  });

  it("avatars and uploads are kept for ever, and a new avatar is stored after the previous one was deleted", async () => {
    const body = new Uint8Array(picture);
    const headers = { "Content-Type": "image/jpeg", ...USER };
    const put = async () => {
      const reply = await fetch(`${url}/users/me/avatar`, { method: "PUT", body, headers });
      expect(reply.status).toBe(201);
      const { avatar } = (await reply.json()) as { avatar: string };
      return `${url}${avatar.replace(/\.webp.*$/, ".json")}`;
    };
    const record = await put();
    const shown = await fetch(record);
    expect([shown.headers.get("sunset"), await shown.json()]).toMatchObject([null, { expiresAt: null }]);
    expect((await fetch(record, { method: "DELETE", headers: USER })).status).toBe(204);
    expect((await fetch(await put())).status).toBe(200);
    expect(await (await upload(USER)).json()).toMatchObject({ expiresAt: null });
  });

  it("a user deletes an own picture without its PIN", async () => {
    const { id } = (await (await upload(USER)).json()) as { id: string };
    const removed = await fetch(`${url}/img/api/images/${id}.json`, { method: "DELETE", headers: USER });
    expect(removed.status).toBe(204);
  });
});
