// Nightly: proxies that send files themselves.
import { expect, it } from "vitest";
import { amiss, examine } from "./support/examine-mount.ts";
import { startNginx } from "./support/proxies.ts";
import { withSite } from "./support/service.ts";

const ACCEL = { header: "X-Accel-Redirect", prefix: "/files/" } as const;

async function amissAt(base: string) {
  return amiss(await examine(base)).filter(({ check }) => check !== "sizes");
}

it("doctor names the headers that nginx drops from large pictures without lines that keep them", async () => {
  await withSite({ tls: "off", sendfile: ACCEL }, async (site) => {
    const nginx = await startNginx(`
      client_max_body_size 26m;
      location /img/ { proxy_pass ${site.origin}; proxy_set_header Host $http_host; }
      location /files/ {
        internal;
        alias ${site.directory}/blobs/;
        add_header Last-Modified $upstream_http_last_modified;
        add_header Sunset $upstream_http_sunset;
        add_header Cross-Origin-Resource-Policy $upstream_http_cross_origin_resource_policy;
      }`);
    const found = await amissAt(`${nginx.origin}/img`);
    await nginx.close();
    expect(found).toEqual([
      {
        check: "large picture",
        status: "problem",
        detail:
          "ETag and Content-Security-Policy and X-Content-Type-Options are changed or missing, unlike with HEAD",
        remedy: expect.stringContaining("sendfile"),
      },
    ]);
  });
});

it("doctor reports that no proxy sends the file that the service names", async () => {
  await withSite({ tls: "off", sendfile: ACCEL }, async ({ base }) => {
    expect(await amissAt(base)).toEqual([
      expect.objectContaining({ check: "large picture", detail: "the reply for a large picture is empty" }),
    ]);
  });
});

it("doctor finds nothing amiss where the service sends large pictures itself", async () => {
  await withSite({ tls: "off" }, async ({ base }) => expect(await amissAt(base)).toEqual([]));
});
