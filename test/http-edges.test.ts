import { readFile } from "node:fs/promises";
import type { RequestListener, Server } from "node:http";
import { connect } from "node:net";
import type { Service } from "@outrigger/core";
import { express } from "@outrigger/express";
import { koa } from "@outrigger/koa";
import expressApp from "express";
import Koa from "koa";
import { describe, expect, test } from "vitest";
import { mountAt } from "../packages/koa/test/harness.ts";
import { requestOf, VALID } from "./hostile/hostile-upload.ts";
import { exchange, type RawReply } from "./hostile/raw-http.ts";
import { type Host, serveHost } from "./support/listen.ts";
import { withSite } from "./support/quick-site.ts";
import type { Created, Site, SiteOptions } from "./support/service.ts";

const EVIL = "evil.example";
const OWN = "img.example";

/** Sends an upload whose request line and host lines are given. */
function upload(site: Site, target: string, hosts: readonly string[], more: readonly string[] = []) {
  const request = requestOf({ title: "", body: VALID, statuses: [], headers: more }, target).toString(
    "latin1",
  );
  const lines = hosts.map((host) => `Host: ${host}`).join("\r\n");
  return exchange(site.origin, request.replace("Host: localhost", lines));
}

function problemOf(reply: RawReply | null): unknown[] {
  const { status, detail } = JSON.parse(reply?.body.toString() || "{}");
  return [reply?.status, status, detail];
}

function createdOf(reply: RawReply | null): { location: string | undefined; record: Created } {
  expect(reply?.status, reply?.body.toString()).toBe(201);
  return { location: reply?.headers.location, record: JSON.parse(reply?.body.toString() ?? "") };
}

describe.each(["Express 5", "Koa 3"] as const)("requests through %s", (host) => {
  const run = (options: SiteOptions, use: (site: Site) => Promise<void>) =>
    withSite({ host, tls: "off", ...options }, use);

  test("several Host headers answer 400 on every route, whatever publicUrl and allowedHosts say", async () => {
    for (const options of [{}, { publicUrl: `https://${OWN}` }, { allowedHosts: ["localhost"] }]) {
      await run(options, async (site) => {
        const { id } = createdOf(await upload(site, "/img/api/images.json", ["localhost"])).record;
        for (const second of ["localhost", EVIL]) {
          const refused = await upload(site, "/img/api/images.json", ["localhost", second]);
          expect(problemOf(refused)).toEqual([400, 400, "A request must have one Host header"]);
          for (const path of ["/img", `/img/${id}`, `/img/${id}/view`, `/img/api/images/${id}.svg`]) {
            const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nhost: ${second}\r\n\r\n`;
            expect([path, (await exchange(site.origin, head))?.status]).toEqual([path, 400]);
          }
        }
      });
    }
  });

  test("the host of an absolute target wins over Host in all addresses of a reply", async () => {
    await run({}, async (site) => {
      const target = `http://${OWN}:8080/img/api/images.json`;
      const { location, record } = createdOf(await upload(site, target, [EVIL]));
      const url = `http://${OWN}:8080/img/${record.id}`;
      expect([location, record.url]).toEqual([url, url]);
      expect(record.editUrl.startsWith(`${url}/edit?`)).toBe(true);
    });
  });

  test("allowedHosts decides about the host of an absolute target, and publicUrl begins all addresses", async () => {
    await run({ allowedHosts: [OWN] }, async (site) => {
      const refused = await upload(site, `http://${EVIL}/img/api/images.json`, [OWN]);
      expect(problemOf(refused)).toEqual([400, 400, "This host is not served here"]);
      createdOf(await upload(site, `http://${OWN}/img/api/images.json`, [EVIL]));
    });
    await run({ publicUrl: `https://${OWN}/pictures` }, async (site) => {
      const { location, record } = createdOf(
        await upload(site, `http://${EVIL}/img/api/images.json`, ["localhost"]),
      );
      expect(location).toBe(`https://${OWN}/pictures/${record.id}`);
    });
  });

  test("an upload that another site makes a browser send answers 403 if authorize decides", async () => {
    await run({ authorize: () => ({ owner: "anna" }) }, async (site) => {
      const path = "/img/api/images.json";
      const from = (origin: string, relation: string) =>
        upload(site, path, [OWN], ["Cookie: session=1", `Origin: ${origin}`, `Sec-Fetch-Site: ${relation}`]);
      const [status, , detail] = problemOf(await from(`https://${EVIL}`, "cross-site"));
      expect([status, detail]).toEqual([403, expect.stringContaining("page of another origin")]);
      createdOf(await from(`http://${OWN}`, "same-origin"));
      createdOf(await upload(site, path, [OWN]));
    });
  });

  test("the snippet of docs/mounting.md refuses a body that is too long without 100 Continue", async () => {
    const page = await readFile(new URL("../docs/mounting.md", import.meta.url), "utf8");
    const [, snippet = ""] = /```js\n([^`]*checkContinue[^`]*)```/.exec(page) ?? [];
    await run({}, async (site) => {
      new Function("server", snippet)(site.server as Server);
      const body = Buffer.from(VALID, "latin1");
      const send = (length: number) => sendExpecting(site, length, body);
      expect(await send(99_999_999)).toMatch(/^HTTP\/1\.1 413 /);
      expect(await send(body.length)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
    });
  });
});

/** Sends a head that expects 100 Continue, and the body once it has come. Returns all that the server sent. */
async function sendExpecting({ origin }: Host, length: number, body: Buffer): Promise<string> {
  const head = requestOf(
    {
      title: "",
      body,
      length: `Content-Length: ${length}`,
      statuses: [],
      headers: ["Expect: 100-continue", "Connection: close"],
    },
    "/img/api/images.json",
  ).subarray(0, -body.length);
  const socket = connect(Number(new URL(origin).port), "127.0.0.1");
  socket.write(head);
  let received = "";
  for await (const chunk of socket) {
    if (received === "" && String(chunk).startsWith("HTTP/1.1 100 ")) socket.write(body);
    received += chunk;
  }
  return received;
}

/** Replies with the origin of each request. */
const echo: Service = {
  handle: async ({ origin, headers }) => ({
    status: 200,
    headers: { "Content-Type": "text/plain" },
    body: `${origin} ${headers.host}`,
  }),
};

const PROXIED: Record<string, () => RequestListener> = {
  Express: () => expressApp().set("trust proxy", "loopback").use("/img", express(echo)),
  Koa: () => new Koa({ proxy: true }).use(koa(echo, { prefix: "/img" })).callback(),
  "koa-mount": () => new Koa({ proxy: true }).use(mountAt("/img", koa(echo))).callback(),
};

describe.each(Object.keys(PROXIED))("behind a trusted proxy, %s", (name) => {
  test.each([
    ["takes the forwarded host before an absolute target and Host", `http://${EVIL}/img/`, true, OWN],
    ["takes an absolute target before Host", `http://${OWN}/img/`, false, OWN],
    ["takes Host without the others", "/img/", false, "localhost"],
  ])("%s", async (_what, target, isForwarded, expected) => {
    const host = await serveHost(PROXIED[name]?.() ?? (() => {}));
    try {
      const forwarded = isForwarded ? `X-Forwarded-Host: ${OWN}\r\n` : "";
      const reply = await exchange(
        host.origin,
        `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${forwarded}\r\n`,
      );
      expect(reply?.body.toString().split(" ")[0]).toBe(`http://${expected}`);
    } finally {
      await host.close();
    }
  });

  test("gives no origin to a request with several Host headers, also with a forwarded host", async () => {
    const host = await serveHost(PROXIED[name]?.() ?? (() => {}));
    try {
      const lines = ["Host: a.example", "Host: b.example", `X-Forwarded-Host: ${OWN}`].join("\r\n");
      const reply = await exchange(host.origin, `GET /img/ HTTP/1.1\r\n${lines}\r\n\r\n`);
      expect(reply?.body.toString()).toBe(" a.example, b.example");
    } finally {
      await host.close();
    }
  });
});
