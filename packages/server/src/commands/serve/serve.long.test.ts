import { once } from "node:events";
import { rename, rm, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jpeg, serve, temporaryDirectory, upload, uploaded } from "../../../test/outrigger-process.ts";

describe("outrigger serve", () => {
  it("applies the limits of its configuration", async () => {
    const cwd = await temporaryDirectory();
    const config = {
      publicUrl: "https://img.example.com/pictures",
      images: { maxUploadBytes: 100, defaultLifetimeMs: 5000, rateLimits: { creates: 3 } },
    };
    await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify(config));
    const server = serve(cwd);
    const url = await server.url;
    const picture = await jpeg();
    expect(picture.length).toBeGreaterThan(100);
    expect((await upload(url, picture)).status).toBe(413);
    const svg = new File(['<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'], "a.svg", {
      type: "image/svg+xml",
    });
    const form = new FormData();
    form.set("imagedata", svg);
    const created = await fetch(`${url}/api/images.json`, { method: "POST", body: form });
    const image = (await created.json()) as { url: string; expiresAt: string; createdAt: string };
    expect(created.status).toBe(201);
    expect(image.url).toMatch(/^https:\/\/img\.example\.com\/pictures\/[\w-]{22}$/);
    expect(Date.parse(image.expiresAt) - Date.parse(image.createdAt)).toBe(5000);
    expect((await upload(url, picture)).status).toBe(413);
    expect((await upload(url, picture)).status).toBe(429);
  });

  it("serves the upload page at /, and the commands to programs such as curl", async () => {
    const server = serve(await temporaryDirectory());
    const url = await server.url;
    const command = `curl -F imagedata=@picture.jpg ${url}/api/images.json`;
    const text = await fetch(url);
    expect(text.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await text.text()).toContain(command);
    const page = await fetch(url, { headers: { Accept: "text/html,*/*;q=0.8" } });
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const [, script = ""] = /<script type="module" src="([^"]+)">/.exec(await page.text()) ?? [];
    expect(new URL(script).origin).toBe(url);
    expect((await fetch(script)).headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    const head = await fetch(url, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const put = await fetch(url, { method: "PUT", body: "x" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, HEAD, POST, OPTIONS"]);
    const [hostless] = await once(get(url, { headers: { Host: 'a"b' } }), "response");
    expect(hostless.resume().statusCode).toBe(400);
  });

  it("answers unknown addresses with a problem, and with a page to browsers", async () => {
    const server = serve(await temporaryDirectory());
    const url = await server.url;
    const problem = await fetch(`${url}/favicon.ico?pin=x`);
    expect(problem.status).toBe(404);
    expect(problem.headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
    expect(await problem.json()).toEqual({
      type: "about:blank",
      title: "Not Found",
      status: 404,
      detail: "There is nothing at this address.",
      instance: "/favicon.ico",
    });
    const page = await fetch(`${url}/AbCdEfGhIjKlMnOpQrStUv`, { headers: { Accept: "text/html" } });
    expect(page.status).toBe(404);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  });
});

describe("outrigger serve behind a proxy", () => {
  const risk = "trustProxy is set without publicUrl and images.allowedHosts";

  it.each<[string, object, boolean]>([
    ["warns at its start if clients may choose the host of addresses", { trustProxy: 1 }, true],
    ["does not warn with publicUrl", { trustProxy: 1, publicUrl: "https://img.example" }, false],
    ["does not warn with allowedHosts", { trustProxy: 1, images: { allowedHosts: ["img.example"] } }, false],
    ["does not warn without a trusted proxy", {}, false],
  ])("%s", async (_what, config, isRisky) => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify(config));
    const server = serve(cwd);
    await server.logged("Upload pictures at");
    await fetch(`${await server.url}/healthz`);
    expect(server.output.stderr.includes(risk)).toBe(isRisky);
  });
});

describe("health of outrigger serve", () => {
  it("names the failing part on /readyz, and answers 200 on /healthz", async () => {
    const cwd = await temporaryDirectory();
    const server = serve(cwd);
    const url = await server.url;
    expect(await answer(`${url}/readyz`)).toEqual([
      200,
      { status: "ready", checks: { storage: "ok", renderer: "ok" } },
    ]);

    // Root ignores permissions; a file at the path of the directory stops every user.
    await rename(join(cwd, "data"), join(cwd, "away"));
    await writeFile(join(cwd, "data"), "");
    await expect
      .poll(() => answer(`${url}/readyz`))
      .toEqual([503, { status: "not ready", checks: { storage: "failing", renderer: "ok" } }]);
    expect(await answer(`${url}/healthz`)).toEqual([200, { status: "ok" }]);
    await server.logged('"part":"storage"');

    await rm(join(cwd, "data"));
    await rename(join(cwd, "away"), join(cwd, "data"));
    await expect.poll(() => answer(`${url}/readyz`)).toMatchObject([200, { status: "ready" }]);
    await server.logged("ready again");
  });

  it("answers 503 draining on /readyz while it still accepts connections", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(
      join(cwd, "outrigger.config.json"),
      JSON.stringify({ drainDelayMs: 3000, shutdownMs: 10_000 }),
    );
    const server = serve(cwd);
    const url = await server.url;
    const image = await uploaded(url, await jpeg());
    server.child.kill("SIGTERM");
    await server.logged("draining");
    expect(await answer(`${url}/readyz`)).toEqual([503, { status: "draining" }]);
    expect(await answer(`${url}/healthz`)).toEqual([200, { status: "ok" }]);
    expect((await fetch(`${url}/api/images/${image.id}.jpg`)).status).toBe(200);
    expect(await server.exit).toBe(0);
  });
});

describe("outrigger serve after an uncaught exception", () => {
  it("logs the exception and exits with 1", async () => {
    const cwd = await temporaryDirectory();
    // The configuration module runs code in the process, which stands in for a bug once the handler is there.
    await writeFile(
      join(cwd, "outrigger.config.mjs"),
      `export default () => {
        const strike = () => {
          if (process.listenerCount("uncaughtException") === 0) setTimeout(strike, 20);
          else throw new Error("struck");
        };
        strike();
        return {};
      };`,
    );
    const server = serve(cwd);
    expect(await server.exit).toBe(1);
    const last = JSON.parse(server.output.stderr.trimEnd().split("\n").at(-1) ?? "");
    expect(last).toMatchObject({
      level: 60,
      msg: "exiting after an uncaught exception",
      err: { message: "struck" },
    });
  });
});

async function answer(url: string): Promise<[number, unknown]> {
  const response = await fetch(url);
  return [response.status, await response.json()];
}
