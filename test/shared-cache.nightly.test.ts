// Nightly: nginx as a cache; the headers for it are tested beside their source.
import { afterAll, beforeAll, expect, test } from "vitest";
import { jpegPhoto } from "./support/pictures.ts";
import { type RunningProxy, startNginx } from "./support/proxies.ts";
import { addressOf, bytesOf, type Site, startSite, upload } from "./support/service.ts";

const MODERN = "image/avif,image/webp,*/*;q=0.8";

let site: Site;
let nginx: RunningProxy;
let base: string;

beforeAll(async () => {
  site = await startSite({ tls: "off" });
  // A cache with nginx's own rules for keys, Vary and revalidation.
  nginx = await startNginx(
    `location / {
      proxy_pass ${site.origin};
      proxy_cache pictures;
      proxy_cache_revalidate on;
      add_header X-Cache $upstream_cache_status always;
    }`,
    "proxy_cache_path cache keys_zone=pictures:1m;",
  );
  base = `${nginx.origin}/img`;
});
afterAll(async () => {
  await nginx.close();
  await site.close();
});

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
