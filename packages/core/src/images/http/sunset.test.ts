import { createFakeRenderer } from "@outrigger/testing";
import { expect, test } from "vitest";
import { created } from "../../../test/image-site.ts";
import { createLifeSite, DAY, HOUR, readsOf, SECOND } from "../../../test/life-site.ts";

test("every reply about an image has its expiry in Sunset", async () => {
  const site = createLifeSite();
  const { id, pin } = created(await site.create());
  for (const { method, path, headers } of readsOf(id)) {
    const answer = await site.send(method, path, { headers });
    expect([path, answer.status, answer.headers.Sunset]).toEqual([
      path,
      answer.status,
      "Mon, 02 Mar 2026 12:00:00 GMT",
    ]);
  }
  const expiresAt = site.clock.now + HOUR;
  const changed = await site.send("PATCH", `/api/images/${id}.json`, {
    search: `pin=${pin}`,
    fields: { expiresAt },
  });
  expect(changed.headers.Sunset).toBe("Sun, 01 Mar 2026 13:00:00 GMT");
  expect((await site.send("HEAD", `/api/images/${id}.png`)).headers.Sunset).toBe(changed.headers.Sunset);
});

test("a 202 has the expiry in Sunset", async () => {
  const site = createLifeSite({ renderer: createFakeRenderer() });
  const { id } = created(await site.create({ headers: { prefer: "respond-async" } }));
  const answer = await site.send("GET", `/api/images/${id}.png`);
  expect([answer.status, answer.headers.Sunset]).toEqual([202, "Mon, 02 Mar 2026 12:00:00 GMT"]);
});

test("max-age never exceeds the remaining life of the picture", async () => {
  const site = createLifeSite({ cacheSeconds: 300 });
  const { id } = created(await site.create());
  const end = site.clock.now + DAY;
  for (const [leftMs, maxAge] of [
    [DAY, 300],
    [300 * SECOND, 300],
    [300 * SECOND - 1, 299],
    [1500, 1],
    [999, 0],
    [1, 0],
  ] as const) {
    site.clock.now = end - leftMs;
    for (const { method, path, headers } of readsOf(id)) {
      if (!path.startsWith("/api/") || path.endsWith(".json")) continue;
      const answer = await site.send(method, path, { headers });
      expect([leftMs, path, headers, answer.headers["Cache-Control"]]).toEqual([
        leftMs,
        path,
        headers,
        `public, max-age=${maxAge}, must-revalidate, no-transform`,
      ]);
    }
  }
});
