import { METHODS } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HostName } from "../support/hosts.ts";
import { jpegPhoto, svgDrawing } from "../support/pictures.ts";
import { startSite } from "../support/quick-site.ts";
import { type Created, type Site, upload } from "../support/service.ts";
import { partOf } from "../support/soak.ts";
import { type HostLog, keepHostLog } from "./host-log.ts";
import { requestOf, VALID } from "./hostile-upload.ts";
import { exchange, type RawReply, readUntilClosed } from "./raw-http.ts";
import { HOSTILE_PATHS, MALFORMED_HOSTS, ODD_REQUESTS } from "./request-targets.ts";
import { HOSTILE_AGENTS, ODD_CONDITIONS, ODD_RANGES } from "./request-values.ts";
import { answerOf, expectProblem } from "./verdict.ts";
import { type Watch, watchSite } from "./watch-site.ts";

const HOSTS: HostName[] = ["Express 5", "Koa 3"];
const EVIL = "evil.example";

/** Sends a head verbatim, and expects a reply, or a closed connection. */
function send(site: Site, head: string, body = ""): Promise<RawReply | null> {
  return exchange(site.origin, Buffer.from(`${head}\r\n\r\n${body}`, "latin1"));
}

function get(site: Site, path: string, ...headers: string[]): Promise<RawReply | null> {
  return send(site, [`GET ${path} HTTP/1.1`, "Host: localhost", ...headers].join("\r\n"));
}

function isOurs(reply: RawReply | null): boolean {
  return reply?.headers["content-type"]?.startsWith("application/problem+json") ?? false;
}

describe.each(partOf(HOSTS, HOSTS.slice(1)))("hostile requests through %s", (host) => {
  let site: Site;
  let watch: Watch;
  let image: Created;
  const stored: string[] = [];
  let hostLog: HostLog;

  beforeAll(async () => {
    hostLog = keepHostLog();
    site = await startSite({ host, uploadIdleMs: 500 });
    watch = await watchSite(site);
    image = await upload(site, svgDrawing, "image/svg+xml");
    stored.push(image.id);
  });
  afterAll(async () => {
    await site.close();
    hostLog.restore();
  });

  test("every hostile path answers one of its statuses", async () => {
    for (const [path, ...statuses] of HOSTILE_PATHS) {
      const reply = await get(site, `/img${path.replaceAll("ID", image.id)}`, "Accept: text/html");
      const said = `${path.slice(0, 60)}: ${reply?.head}`;
      if (isOurs(reply)) expectProblem(await answerOf(reply), statuses, path);
      // A reply that is not ours is the host's 404.
      else expect([...statuses.filter((status) => status === 400), 404], said).toContain(reply?.status);
    }
  });

  test("every odd request is answered, refused or cut, and harms no other client", async () => {
    for (const [title, head, ...statuses] of ODD_REQUESTS) {
      const reply = await send(site, head.replaceAll("ID", image.id));
      if (isOurs(reply)) expectProblem(await answerOf(reply), statuses.map(Number), title);
      else expect(statuses, `${title}: ${reply?.head}`).toContain(reply?.status ?? null);
      expect((await get(site, `/img/api/images/${image.id}.svg`))?.status, title).toBe(200);
    }
  });

  test("a malformed Host is refused everywhere, and appears in no address", async () => {
    for (const name of MALFORMED_HOSTS) {
      for (const path of [`/img/api/images/${image.id}.json`, `/img/${image.id}`, "/img/api/images/x.json"]) {
        const reply = await send(site, `GET ${path} HTTP/1.1\r\nHost: ${name}`);
        expect([name, path, reply?.status]).toEqual([name, path, 400]);
        if (isOurs(reply)) expectProblem(await answerOf(reply), [400], name);
      }
      const head = requestOf({ title: "", body: VALID, statuses: [] }, "/img/api/images.json")
        .toString("latin1")
        .replace("Host: localhost", `Host: ${name}`);
      expect([name, (await exchange(site.origin, head))?.status]).toEqual([name, 400]);
    }
  });

  test("a missing Host is refused, also in HTTP/1.0", async () => {
    for (const version of ["1.0", "1.1"]) {
      const reply = await send(site, `GET /img/api/images/${image.id}.json HTTP/${version}`);
      expect([version, reply?.status]).toEqual([version, 400]);
    }
  });

  test("untrusted proxy headers appear in no address", async () => {
    const open = await startSite({ host, tls: "off" });
    try {
      const { id } = await upload(open, svgDrawing, "image/svg+xml");
      const path = `/img/api/images/${id}.json`;
      for (const lines of [
        [`GET ${path} HTTP/1.1`, "Host: localhost", `X-Forwarded-Host: ${EVIL}`],
        [`GET ${path} HTTP/1.1`, "Host: localhost", "X-Forwarded-Proto: https", "X-Forwarded-Ssl: on"],
        [`GET ${path} HTTP/1.1`, "Host: localhost", `Forwarded: for=1.2.3.4;host=${EVIL};proto=https`],
        [`GET ${path} HTTP/1.1`, "Host: localhost", `X-Original-Host: ${EVIL}`, `X-Host: ${EVIL}`],
        [`GET ${path} HTTP/1.1`, "Host: localhost", `X-Original-URL: /${EVIL}`, `X-Rewrite-URL: /${EVIL}`],
        [`GET ${path} HTTP/1.1`, "Host: localhost", `X-Forwarded-Prefix: /${EVIL}`, "X-Forwarded-Port: 666"],
      ]) {
        const reply = await send(open, lines.join("\r\n"));
        expect(reply?.status, lines.join()).toBe(200);
        const { url } = JSON.parse(reply?.body.toString() ?? "") as Created;
        expect(url, lines.join()).toBe(`http://localhost/img/${id}`);
      }
    } finally {
      await open.close();
    }
  });

  test("only allowedHosts are served, others get 400", async () => {
    const strict = await startSite({ host, allowedHosts: ["good.example", "good.example:8080"] });
    try {
      for (const [name, status] of [
        ["good.example", 404],
        ["GOOD.example", 404],
        ["good.example:8080", 404],
        ["good.example:81", 400],
        ["good.example.", 400],
        ["good.example.evil.example", 400],
        ["evilgood.example", 400],
        ["evil.example", 400],
        ["127.0.0.1", 400],
        ["good.example@evil.example", 400],
      ] as const) {
        const path = "/img/api/images/AAAAAAAAAAAAAAAAAAAAAA.json";
        const reply = await send(strict, `GET ${path} HTTP/1.1\r\nHost: ${name}`);
        expectProblem(await answerOf(reply), [status], name);
      }
    } finally {
      await strict.close();
    }
  });

  test("an untrusted X-Forwarded-For neither changes the client nor bypasses the TLS requirement", async () => {
    const limited = await startSite({
      host,
      tls: "off",
      rateLimits: { reads: 5, creates: false, edits: false },
    });
    try {
      const statuses: (number | undefined)[] = [];
      for (let client = 1; client <= 8; client++) {
        const path = "/img/api/images/AAAAAAAAAAAAAAAAAAAAAA.json";
        statuses.push((await get(limited, path, `X-Forwarded-For: 203.0.113.${client}`))?.status);
      }
      expect(statuses).toEqual([404, 404, 404, 404, 404, 429, 429, 429]);
    } finally {
      await limited.close();
    }
    for (const line of [
      "X-Forwarded-For: 203.0.113.9",
      "X-Forwarded-Proto: https",
      "Forwarded: proto=https",
      "Via: 1.1 x",
    ]) {
      expectProblem(await answerOf(await get(site, `/img/api/images/${image.id}.json`, line)), [403], line);
    }
  });

  test("every HTTP method is answered, and allowed only where documented", async () => {
    const permitted: Record<string, string[]> = {
      "/api/images.json": ["POST"],
      "/api/images/ID.json": ["GET", "HEAD", "PATCH", "DELETE"],
      "/api/images/ID.svg": ["GET", "HEAD"],
      "/ID": ["GET", "HEAD"],
      "/ID/view": ["GET", "HEAD"],
      "/ID/edit": ["GET", "HEAD", "POST"],
    };
    for (const [path, allowed] of Object.entries(permitted)) {
      for (const method of METHODS) {
        if (allowed.includes(method) || method === "CONNECT") continue;
        const target = `/img${path.replace("ID", image.id)}`;
        const reply = await send(
          site,
          `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0`,
        );
        expect([path, method, reply?.status]).toEqual([path, method, method === "OPTIONS" ? 204 : 405]);
        expect(reply?.headers.allow).toBe([...allowed, "OPTIONS"].join(", "));
        if (method !== "OPTIONS" && method !== "HEAD") expectProblem(await answerOf(reply), [405], method);
      }
    }
  });

  test("any User-Agent is treated as text, and at most its first product is stored", async () => {
    for (const agent of HOSTILE_AGENTS) {
      const request = requestOf(
        { title: "", body: VALID, statuses: [], headers: [`User-Agent: ${agent}`] },
        "/img/api/images.json",
      );
      const reply = await exchange(site.origin, request);
      expect([agent, reply?.status]).toEqual([agent, 201]);
      const record = JSON.parse(reply?.body.toString() ?? "") as Created;
      if (record.agent !== null) {
        const { name, version } = record.agent as { name: string; version: string | null };
        expect(`${name}/${version ?? ""}`.length, agent).toBeLessThanOrEqual(65);
        expect(`${name}${version ?? ""}`, agent).toMatch(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/);
      }
      const view = await fetch(`${site.base}/${record.id}/view`, { headers: { Accept: "text/html" } });
      expect(await view.text(), agent).not.toMatch(/alert\(1\)/);
      stored.push(record.id);
    }
  });

  test("control characters in a User-Agent are refused as malformed HTTP", async () => {
    for (const agent of ["a\0b", "a\x01b", "a\x7fb", "a\rb"]) {
      const reply = await get(site, `/img/api/images/${image.id}.json`, `User-Agent: ${agent}`);
      expect([agent, reply?.status]).toEqual([agent, 400]);
    }
  });

  test("any Range gets the whole, a part or 416, with correct numbers", async () => {
    const whole = (await get(site, `/img/api/images/${image.id}.svg`))?.body ?? Buffer.alloc(0);
    for (const range of ODD_RANGES) {
      const reply = await get(site, `/img/api/images/${image.id}.svg`, `Range: ${range}`);
      const said = range.slice(0, 60);
      expect([200, 206, 416], said).toContain(reply?.status);
      if (reply?.status === 416) {
        expectProblem(await answerOf(reply), [416], said);
        expect(reply.headers["content-range"], said).toBe(`bytes */${whole.length}`);
      } else if (reply?.status === 206) {
        const [, from, to] = /^bytes (\d+)-(\d+)\/\d+$/.exec(reply.headers["content-range"] ?? "") ?? [];
        expect(reply.body, said).toEqual(whole.subarray(Number(from), Number(to) + 1));
      } else expect(reply?.body, said).toEqual(whole);
    }
  });

  test("any conditional header gets the whole, 304 or 412", async () => {
    for (const name of [
      "If-Match",
      "If-None-Match",
      "If-Modified-Since",
      "If-Unmodified-Since",
      "If-Range",
    ]) {
      for (const value of ODD_CONDITIONS) {
        for (const suffix of ["svg", "json", "png"]) {
          const path = `/img/api/images/${image.id}.${suffix}`;
          const begun = process.cpuUsage();
          const reply = await get(site, path, `${name}: ${value}`, "Range: bytes=0-3");
          const said = `${suffix} ${name}: ${value.slice(0, 60)}`;
          expect([200, 206, 304, 412], said).toContain(reply?.status);
          expect(process.cpuUsage(begun).user / 1000, said).toBeLessThan(20_000);
          if (reply?.status === 412) expectProblem(await answerOf(reply), [412], said);
        }
      }
    }
  });

  test("any Accept header is answered", async () => {
    for (const accept of [
      "",
      "*",
      "text/html;q=2",
      "text/html;q=NaN,*/*;q=-1",
      `text/html,${"a/b;q=0.1,".repeat(1200)}*/*`,
      "text/html;".repeat(1200),
      ",".repeat(8000),
      "\xff/\xfe, text/html",
      "__proto__/constructor, text/html",
    ]) {
      for (const path of [`/img/${image.id}`, `/img/${image.id}/edit`, `/img/api/images/${image.id}.html`]) {
        const reply = await get(site, path, `Accept: ${accept}`);
        expect([200, 403, 415], `${path} ${accept.slice(0, 60)}`).toContain(reply?.status);
      }
    }
  });

  test("200 pipelined requests on one connection, good and bad, are all answered", async () => {
    const photo = await jpegPhoto(60, 40);
    const { id } = await upload(site, photo, "image/jpeg");
    stored.push(id);
    const paths = [`${id}.jpg`, "x.json", `${id}.exe`, `${id}.json`, `${id}.jpg?resize=0x`];
    const lines = Array.from({ length: 200 }, (_, index) => {
      const isLast = index === 199;
      return `GET /img/api/images/${paths[index % 5]} HTTP/1.1\r\nHost: localhost\r\n${isLast ? "Connection: close\r\n" : ""}\r\n`;
    });
    const statuses =
      (await readUntilClosed(site.origin, lines.join(""))).toString("latin1").match(/HTTP\/1\.1 \d{3}/g) ??
      [];
    expect(statuses).toHaveLength(200);
    expect(statuses.slice(0, 5)).toEqual([200, 404, 415, 200, 400].map((status) => `HTTP/1.1 ${status}`));
  });

  test("hostile requests leave no file, no descriptor and no unexpected error behind", async () => {
    await watch.expectUnharmed(stored);
    expect(site.errors).toEqual([]);
    expect(hostLog.unexpected()).toEqual([]);
  });
});
