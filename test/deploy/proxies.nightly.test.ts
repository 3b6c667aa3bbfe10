// Nightly: four proxies as the guide configures them.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type IncomingHttpHeaders, type IncomingMessage, request as plainRequest } from "node:http";
import { type RequestOptions, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSelfSigned, type SelfSigned } from "../backends/self-signed.ts";
import { MULTIPART, multipart } from "../published/multipart.ts";
import { type RunningProxy, startApache, startCaddy, startNginxSites } from "../support/proxies.ts";
import { type StartedProcess, startProcess } from "../support/start-process.ts";

const FILES = new URL("../../examples/deploy/", import.meta.url);
const COMMAND = fileURLToPath(new URL("../../packages/server/bin/outrigger.js", import.meta.url));
/** More than the server sends itself. */
const LARGE = await sharp(randomBytes(3_000_000), { raw: { width: 1000, height: 1000, channels: 3 } })
  .png({ compressionLevel: 0 })
  .toBuffer();
/** The proxies connect from 127.0.0.1. */
const CLIENT = "127.0.0.2";
const LIMIT = 25 * 1024 * 1024;

type Changes = (directory: string, port: number, certificate: SelfSigned) => [from: string, to: string][];
interface Proxy {
  files: string[];
  header: string;
  caches: boolean;
  start: typeof startNginxSites;
  /** Places of a production machine, and those of this test. */
  changes: Changes;
}

const PROXIES: Record<string, Proxy> = {
  nginx: {
    files: ["upstream.conf", "nginx.conf"],
    header: "x-accel-redirect",
    caches: true,
    start: startNginxSites,
    changes: (directory, port, { certificate, key }) => [
      ["listen 80;", `listen unix:${directory}/plain;`],
      ["listen 443 ssl;", `listen 127.0.0.1:${port} ssl;`],
      ["/etc/ssl/outrigger/certificate.pem", certificate],
      ["/etc/ssl/outrigger/key.pem", key],
      ["/var/log/nginx/", `${directory}/`],
      ["/var/cache/nginx/", `${directory}/`],
    ],
  },
  Apache: {
    files: ["apache.conf"],
    header: "x-sendfile",
    caches: true,
    start: startApache,
    changes: (directory, port, { certificate, key }) => [
      ["*:443", `*:${port}`],
      ["/etc/ssl/outrigger/certificate.pem", certificate],
      ["/etc/ssl/outrigger/key.pem", key],
      ["/var/cache/apache2/", `${directory}/`],
    ],
  },
  Caddy: {
    files: ["Caddyfile"],
    header: "x-accel-redirect",
    caches: false,
    start: startCaddy,
    changes: (_, port, { certificate, key }) => [
      ["img.example.com {", `https://127.0.0.1:${port} {\n  tls ${certificate} ${key}`],
    ],
  },
};

describe.each(Object.entries(PROXIES))("%s with the files of examples/deploy", (_, proxy) => {
  let directory: string;
  let certificate: SelfSigned;
  let ca: Buffer;
  let server: StartedProcess;
  let running: RunningProxy | undefined;
  let logged = "";

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "outrigger-deploy-"));
    certificate = await createSelfSigned(directory);
    ca = await readFile(certificate.certificate);
    const config = join(directory, "full-clients.mjs");
    const file = new URL("outrigger.config.mjs", FILES);
    await writeFile(
      config,
      `import config from ${JSON.stringify(file)};\nexport default { ...config, log: { clients: "full" } };`,
    );
    server = await startProcess([COMMAND, "serve", "--config", config], {
      env: {
        OUTRIGGER_DATA: join(directory, "data"),
        OUTRIGGER_PORT: "0",
        ...(proxy.header === "x-sendfile" ? { SENDFILE: "X-Sendfile" } : {}),
      },
    });
    server.child.stderr?.on("data", (text: string) => {
      logged += text;
    });
    running = await proxy.start(async (own, port) => {
      await mkdir(join(own, "outrigger"));
      const texts = await Promise.all(proxy.files.map((name) => readFile(new URL(name, FILES), "utf8")));
      let text = texts.join("\n");
      for (const [from, to] of [
        ["127.0.0.1:3000", new URL(server.announced).host],
        ["/var/lib/outrigger", join(directory, "data")],
        ...proxy.changes(own, port, certificate),
      ] as const) {
        expect(text).toContain(from);
        text = text.replaceAll(from, to);
      }
      return text;
    });
  });
  afterAll(async () => {
    await running?.close();
    server.child.kill("SIGTERM");
    expect(await server.exit).toBe(0);
    await rm(directory, { recursive: true, force: true });
  });

  interface Answer {
    status: number | undefined;
    headers: IncomingHttpHeaders;
    bytes: Buffer;
  }
  async function send(path: string, options: RequestOptions = {}, body?: Buffer | string): Promise<Answer> {
    const headers = { "User-Agent": "Flow/1.0", ...options.headers };
    const sent = request(running?.origin + path, { agent: false, ca, ...options, headers });
    if ("Expect" in headers) sent.flushHeaders();
    else sent.end(body);
    const response = await new Promise<IncomingMessage>((settle, fail) => {
      sent.once("response", settle).on("error", fail);
    });
    const bytes = await buffer(response);
    sent.destroy();
    return { status: response.statusCode, headers: response.headers, bytes };
  }
  async function upload(bytes: Buffer, headers: Record<string, string> = {}, options: RequestOptions = {}) {
    const form = multipart({ bytes, type: "image/png", fileName: "a.png" });
    const answer = await send(
      "/api/images.json",
      {
        ...options,
        method: "POST",
        headers: { "Content-Type": MULTIPART, "Content-Length": form.length, ...headers },
      },
      form,
    );
    return { answer, ...(answer.status === 201 ? JSON.parse(answer.bytes.toString()) : {}) };
  }
  const shortCode = ({ headers }: Answer) => /^\w+/.exec(String(headers["x-cache"] ?? "none"))?.[0];

  test("the proxy sends a large original that the server only names, whole and in ranges", async () => {
    const { id } = await upload(LARGE);
    const [named] = (await once(
      plainRequest(`${server.announced}/api/images/${id}.png`, {
        headers: { "X-Forwarded-Proto": "https" },
      }).end(),
      "response",
    )) as [IncomingMessage];
    expect(named.headers).toHaveProperty(proxy.header);
    expect((await buffer(named)).length).toBe(0);
    const head = await send(`/api/images/${id}.png`, { method: "HEAD" });
    const whole = await send(`/api/images/${id}.png`);
    expect(whole.status).toBe(200);
    expect(whole.bytes.equals(LARGE)).toBe(true);
    const each = { date: expect.any(String), "x-request-id": expect.any(String) };
    expect(whole.headers).toEqual({ ...head.headers, ...each });
    const part = await send(`/api/images/${id}.png`, { headers: { Range: "bytes=10-19" } });
    expect([part.status, part.bytes.equals(LARGE.subarray(10, 20))]).toEqual([206, true]);
    const { etag } = whole.headers;
    const same = await send(`/api/images/${id}.png`, { headers: { "If-None-Match": String(etag) } });
    expect(same.status).toBe(304);
  });

  test("after PATCH and DELETE no rendition is served as it was", async () => {
    const { id, pin } = await upload(await sharp(LARGE).resize(300).png().toBuffer());
    const paths = [
      `/api/images/${id}.png?resize=20x`,
      `/api/images/${id}.auto?resize=30x`,
      `/api/images/${id}.webp?resize=20x`,
    ];
    const read = () => Promise.all(paths.map((path) => send(path)));
    const names = (answers: Answer[]) =>
      answers.map(({ headers }) => /filename="?(\w+)/.exec(String(headers["content-disposition"]))?.[1]);
    const first = await read();
    expect(first.map(({ status }) => status)).toEqual([200, 200, 200]);
    const second = await read();
    expect(second.map(shortCode)).toEqual(paths.map(() => (proxy.caches ? "HIT" : "none")));
    expect(second.map(({ bytes }) => bytes)).toEqual(first.map(({ bytes }) => bytes));
    expect(names(second)).toEqual(["a", "a", "a"]);
    const headers = { "X-Service-Image-Pin": pin, "Content-Type": "application/json" };
    const edit = { method: "PATCH", headers };
    expect((await send(`/api/images/${id}.json`, edit, '{"name":"evening.png"}')).status).toBe(200);
    for (let turn = 0; turn < 2; turn++)
      expect(names(await read())).toEqual(["evening", "evening", "evening"]);
    expect((await send(`/api/images/${id}.json`, { ...edit, method: "DELETE" })).status).toBe(204);
    for (let turn = 0; turn < 2; turn++)
      expect((await read()).map(({ status }) => status)).toEqual([410, 410, 410]);
  });

  test("a body over the limit of the server, or of the proxy, gets 413", async () => {
    const { answer } = await upload(Buffer.alloc(LIMIT + 1));
    expect([answer.status, answer.headers["content-type"]]).toEqual([
      413,
      expect.stringMatching(/^application\/problem\+json/),
    ]);
    // The client sends the head of this request only.
    const much = await upload(Buffer.alloc(LIMIT + 2 * 1024 * 1024), { Expect: "100-continue" });
    expect(much.answer.status).toBe(413);
  });

  test("the server gets the client's address and TLS from the proxy, and nothing that a client forged", async () => {
    const forged = { "X-Forwarded-For": "203.0.113.9", "X-Forwarded-Host": "evil.example" };
    const { id, url } = await upload(await sharp(LARGE).resize(50).png().toBuffer(), forged, {
      localAddress: CLIENT,
    });
    expect(url).toBe(`${running?.origin}/${id}`);
    const lines = () =>
      logged.split("\n").filter((line) => line.includes("image stored") && line.includes(id));
    await expect.poll(lines).toHaveLength(1);
    expect(JSON.parse(lines()[0] ?? "")).toMatchObject({ client: CLIENT });
    expect(logged).not.toMatch(/203\.0\.113\.9|evil/);
  });
});
