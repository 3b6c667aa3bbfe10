import { nodeListener } from "@outrigger/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Host, serveHost } from "../support/listen.ts";
import { type Site, startSite } from "../support/service.ts";
import { flow } from "./flow.ts";

let site: Site;
let spoiling: Host;
beforeAll(async () => {
  site = await startSite();
  const listener = nodeListener(site.images);
  spoiling = await serveHost((req, res) => {
    // Leaves no trace of the mount path, and loses a header as some proxies do.
    req.url = (req.url ?? "/").replace(/^\/img/, "");
    delete req.headers.range;
    listener(req, res);
  }, "/img");
});
afterAll(async () => {
  await spoiling.close();
  await site.close();
});

test("the flow finds addresses without the mount path and ignored ranges, and passes all other checks", async () => {
  const checks = await flow(spoiling.base);
  const failed = checks.filter(({ failure }) => failure !== undefined).map(({ name }) => name);
  expect(failed).toEqual([
    "Location, X-Service-Image-Url and the record name one address below the mount",
    "X-Service-Image-Edit-Url is below the mount and has the PIN",
    "Link names the record, the edit page and a file of each format",
    "each link of the record is below the mount",
    "Range answers 206 with those bytes",
    "the upload page takes files, and its assets are below the mount",
  ]);
  expect(new Set(checks.map(({ name }) => name)).size).toBe(checks.length);
  expect(checks.length).toBeGreaterThanOrEqual(26 + failed.length);
});
