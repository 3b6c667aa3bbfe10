import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { freePort } from "./support/listen.ts";
import { jpegPhoto } from "./support/pictures.ts";
import { programs } from "./support/programs.ts";
import { addressOf, bytesOf, type Site, startSite, upload } from "./support/service.ts";

const MODERN = "image/avif,image/webp,*/*;q=0.8";

let site: Site;
let base: string;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  site = await startSite({ tls: "off" });
  const directory = await mkdtemp(join(tmpdir(), "outrigger-nginx-"));
  const port = await freePort();
  base = `http://127.0.0.1:${port}/img`;
  await writeFile(join(directory, "nginx.conf"), configuration(directory, port, site.origin));
  const nginx = spawn(programs.nginx, ["-p", directory, "-e", "stderr", "-c", "nginx.conf"], {
    stdio: "inherit",
  });
  const exit = once(nginx, "exit");
  closing.push(async () => {
    nginx.kill("SIGTERM");
    await exit;
    await rm(directory, { recursive: true });
  });
  await vi.waitFor(() => fetch(base), { timeout: 10_000 });
});
afterAll(async () => {
  for (const close of closing) await close();
  await site.close();
});

/** A cache with nginx's own rules for keys, Vary and revalidation. */
function configuration(directory: string, port: number, origin: string): string {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  );
  return `
    daemon off; master_process off; pid ${directory}/pid; error_log stderr warn;
    events {}
    http {
      ${paths.join("\n")}
      access_log off;
      proxy_cache_path ${directory}/cache keys_zone=pictures:1m;
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass ${origin};
          proxy_cache pictures;
          proxy_cache_revalidate on;
          add_header X-Cache $upstream_cache_status always;
        }
      }
    }`;
}

const get = async (id: string, accept: string, headers: Record<string, string> = {}) => {
  const { response, bytes } = await bytesOf(addressOf({ base }, id, "auto?resize=20x"), {
    headers: { Accept: accept, ...headers },
  });
  const [type, cache] = ["content-type", "x-cache"].map((name) => response.headers.get(name));
  return { status: response.status, type, cache, etag: response.headers.get("etag"), bytes };
};

test("nginx as a cache serves each client the format of .auto that it accepts, and answers 304 for its copy", async () => {
  const { id } = await upload(site, await jpegPhoto(300, 200), "image/jpeg");
  const made = [await get(id, MODERN), await get(id, "image/webp"), await get(id, "*/*")];
  expect(made.map(({ type }) => type)).toEqual(["image/avif", "image/webp", "image/jpeg"]);
  const cached = [await get(id, MODERN), await get(id, "image/webp"), await get(id, "*/*")];
  expect(cached.map(({ cache }) => cache)).toEqual(["HIT", "HIT", "HIT"]);
  expect(cached.map(({ type, etag, bytes }) => [type, etag, bytes])).toEqual(
    made.map(({ type, etag, bytes }) => [type, etag, bytes]),
  );
  for (const [index, accept] of [MODERN, "image/webp", "*/*"].entries()) {
    const own = await get(id, accept, { "If-None-Match": String(made[index]?.etag) });
    expect([own.status, own.cache]).toEqual([304, "HIT"]);
    const others = await get(id, accept, { "If-None-Match": String(made[(index + 1) % 3]?.etag) });
    expect([others.status, others.type]).toEqual([200, made[index]?.type]);
  }
});

test("nginx as a cache keeps no refusal of .auto", async () => {
  const { id, pin } = await upload(site, await jpegPhoto(30, 20), "image/jpeg");
  await fetch(addressOf(site, id, "json"), { method: "DELETE", headers: { "X-Service-Image-Pin": pin } });
  for (const accept of [MODERN, "*/*"]) {
    const { status, cache } = await get(id, accept);
    expect([status, cache]).toEqual([410, "MISS"]);
  }
});
