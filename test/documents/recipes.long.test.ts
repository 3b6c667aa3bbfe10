import { randomBytes } from "node:crypto";
import { chmod, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import * as core from "@outrigger/core";
import { createAdminPages } from "@outrigger/web";
import type { Express } from "express";
import * as standardwebhooks from "standardwebhooks";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTestLookup } from "../lookup/lookup-site.ts";
import { listen } from "../support/listen.ts";
import { type Block, blocksIn, placeOf, readPage, readPages } from "./pages.ts";
import { codeOf, recipes, run, used } from "./recipe-blocks.ts";
import { expressHost, type Host, koaHost } from "./recipe-hosts.ts";
import {
  below,
  closing,
  directory,
  form,
  imagesOf,
  newImages,
  newOptions,
  picture,
  serve,
  statusOf,
  upload,
} from "./recipe-site.ts";

const ADA = { id: "ada", avatar: null as string | null };

/** The status of an upload to the images of a block, which inspects it. */
async function inspected(host: Host, code: string): Promise<number> {
  host.mount(await imagesOf(code), "/img");
  return (await upload(`${await serve(host)}/img`)).status;
}

const RECIPES: Record<string, (host: Host) => Promise<void>> = {
  async "Keep an image for ever"(host) {
    const images = newImages();
    const user = { ...ADA };
    host.route("/avatar", async (req, res) => {
      await run(codeOf("Keep an image for ever"), { images, req, user });
      res.writeHead(200).end();
    });
    const url = `${await serve(host)}/avatar`;
    const init = { method: "POST", headers: { "content-type": "image/png" }, body: new Uint8Array(picture) };
    expect([await statusOf(url, null, init), await statusOf(url, null, init)]).toEqual([200, 200]);
    expect(await images.find(user.avatar ?? "")).toMatchObject({ expiresAt: null });
    expect((await images.usage(ADA.id)).images).toBe(1);
  },

  async "Configure an app from the environment"(host) {
    const env = { IMAGES_STORAGE: `file:${await directory()}`, IMAGES_MAX_UPLOAD: "1kB" };
    const code = codeOf("Configure an app from the environment");
    host.mount(await imagesOf(code, { process: { env } }), "/img");
    expect((await upload(`${await serve(host)}/img`, null, randomBytes(2000))).status).toBe(413);
  },

  async "Private images behind a login"(host) {
    const images = await imagesOf(codeOf("Private images behind a login", "authorize("));
    host.mount(images, "/img");
    const base = `${await serve(host)}/img`;
    expect((await upload(base)).status).toBe(403);
    const { status, text } = await upload(base, ADA);
    expect(status).toBe(201);
    const { id } = JSON.parse(text) as { id: string };
    const url = `${base}/api/images/${id}.png`;
    const readers = [ADA, { id: "eve" }, null];
    expect(await Promise.all(readers.map((user) => statusOf(url, user)))).toEqual([200, 403, 403]);
    const share = codeOf("Private images behind a login", "images.address").replace(
      /^await/,
      "const link = await",
    );
    const link = String(await run(share, { id, images }, "link"));
    expect(await statusOf(below(base, link))).toBe(200);
    expect(await statusOf(below(base, link.replace("1600x", "800x")))).toBe(403);
  },

  async "Upload without a session"(host) {
    const images = closing(core.createImages({ ...newOptions(), authorize: () => false }));
    host.mount(images, "/img");
    const base = `${await serve(host)}/img`;
    const url = String(await run(codeOf("Upload without a session"), { images, user: ADA }, "url"));
    expect((await upload(base)).status).toBe(403);
    expect(await statusOf(below(base, url), null, form())).toBe(201);
  },

  async "List and delete a user's images"(host) {
    const heading = "List and delete a user's images";
    const images = await imagesOf(codeOf(heading, "authorize("));
    host.mount(images, "/img");
    const base = `${await serve(host)}/img`;
    const { status, text } = await upload(base, ADA);
    expect([status, (await upload(base)).status]).toEqual([201, 403]);
    const readers = [ADA, null];
    expect(await Promise.all(readers.map((user) => statusOf(`${base}/api/owned.json`, user)))).toEqual([
      200, 403,
    ]);
    const { id } = JSON.parse(text) as { id: string };
    expect(await statusOf(`${base}/api/images/${id}.png`)).toBe(200);
    const given = { images, user: ADA, console: { log: () => undefined } };
    const result = await run(codeOf(heading, "images.list("), given, "{ stored, states, removed }");
    expect(result).toMatchObject({ stored: 1, states: { ready: expect.anything() }, removed: 1 });
    expect(await statusOf(`${base}/api/images/${id}.png`)).toBe(410);
  },

  async "Review before publishing"(host) {
    expect(await inspected(host, codeOf("Review before publishing"))).toBe(202);
  },

  async "Scan for malware with ClamAV"(host) {
    const clamd = (await import("node:net")).createServer((socket) => {
      let read = "";
      socket.setEncoding("latin1").on("data", (text: string) => {
        read += text;
        if (read.endsWith("\0\0\0\0"))
          socket.end(`stream: ${read.startsWith("zINSTREAM\0") ? "OK" : "ERROR"}\0`);
      });
    });
    const { port, close } = await listen(clamd);
    onTestFinished(close);
    const code = codeOf("Scan for malware with ClamAV");
    expect(
      await inspected(host, code.replace('{ path: "/run/clamav/clamd.ctl" }', `{ port: ${port} }`)),
    ).toBe(201);
  },

  async "Inspect with a command"(host) {
    const command = join(await directory(), "check-picture");
    await writeFile(command, "#!/bin/sh\nexit 1\n");
    await chmod(command, 0o755);
    const code = codeOf("Inspect with a command").replace("/usr/local/bin/check-picture", command);
    expect(await inspected(host, code)).toBe(403);
  },

  async "Inspect with an HTTP classifier"(host) {
    const { origin, close } = await listen(createServer((_req, res) => res.end('{ "score": 0.8 }')));
    onTestFinished(close);
    const code = codeOf("Inspect with an HTTP classifier").replace("http://127.0.0.1:8090", origin);
    expect(await inspected(host, code)).toBe(202);
  },

  async "Decide about images on one page"(host) {
    await host.runMount(codeOf("Decide about images on one page"), { images: newImages(), createAdminPages });
    const url = `${await serve(host)}/admin/images`;
    const readers = [{ name: "Grace", isModerator: true }, { name: "Eve" }, null];
    expect(await Promise.all(readers.map((user) => statusOf(url, user)))).toEqual([200, 403, 403]);
  },

  async "Receive webhooks"(host) {
    const secret = `whsec_${randomBytes(32).toString("base64")}`;
    const code = codeOf("Receive webhooks", "standardwebhooks").replace(/^app\.listen.*$/m, "");
    const said: unknown[] = [];
    const given = {
      process: { env: { WEBHOOK_SECRET: secret } },
      console: { log: (text: string) => said.push(text) },
    };
    await host.pass((await run(code, given, "app")) as Express);
    const url = `${await serve(host)}/hooks/images`;
    const send = (signature: string, id: string, at: Date, body: string) => {
      const headers = {
        ...{ "content-type": "application/json", "webhook-id": id, "webhook-signature": signature },
        "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
      };
      return statusOf(url, null, { method: "POST", headers, body });
    };
    const [at, body] = [new Date(), JSON.stringify({ type: "image.stored", data: { image: { id: "x" } } })];
    const signature = new standardwebhooks.Webhook(secret).sign("1", at, body);
    expect([await send(signature, "1", at, body), await send(signature, "2", at, body)]).toEqual([204, 400]);
    expect(said).toEqual(["image.stored"]);
  },

  async "Upload kits and editors"(host) {
    host.mount(await imagesOf(codeOf("Upload kits and editors")), "/img");
    const fields = new FormData();
    fields.set("filepond", new File([new Uint8Array(picture)], "picture.png"));
    const init = { method: "POST", body: fields };
    expect(await statusOf(`${await serve(host)}/img/api/images.json`, null, init)).toBe(201);
  },

  async "Verify an address at sign-up"(host) {
    const answer = { routing: "found", server: true, mailbox: false, acceptsAll: false } as const;
    const probe = async () => ({ ...answer, reason: null, retryAfterMs: null });
    const { lookup } = await newLookup({ prober: { probe, close: async () => undefined } });
    host.route("/sign-up", async (_req, res) => {
      const email = "ada@acme.example";
      const refusal = await run(codeOf("Verify an address at sign-up"), { email, lookup }).catch(String);
      res.end(String(refusal));
    });
    const said = await (await fetch(`${await serve(host)}/sign-up`)).text();
    expect(said).toContain("This address takes no mail");
  },

  async "Calls in code"(host) {
    const images = newImages();
    const { id, revision } = await images.add(picture);
    host.route("/picture", (_req, res) => run(codeOf("open"), { id, images, res }) as Promise<void>);
    const response = await fetch(`${await serve(host)}/picture`);
    const size = Number(response.headers.get("content-length"));
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
    expect((await response.arrayBuffer()).byteLength).toBe(size);
    await run(codeOf("Errors"), { id, images, revision });
    await run(codeOf("Errors"), { id, images, revision });
    expect((await images.find(id)).name).toBe("Summer");
    const { lookup } = await newLookup();
    await run(codeOf("Lookup"), { lookup, console: { log: () => undefined } });
  },
};

/** Blocks with `call.context` of other pages. */
const ELSEWHERE: Record<string, (host: Host) => Promise<void>> = {
  async "Who may do what"(host) {
    const code = codeOf("Who may do what", "authorize(", await readPage("docs/mounting.md"));
    host.mount(await imagesOf(code), "/img");
    const base = `${await serve(host)}/img`;
    expect([(await upload(base)).status, (await upload(base, ADA)).status]).toEqual([403, 201]);
  },

  async "Keys and counting"(host) {
    const options = {
      contacts: core.createMemoryContactSource(),
      accounts: core.createMemoryAccounts(),
      suppressions: core.createMemorySuppressionList(),
      secret: randomBytes(32),
    };
    const { account } = await closing(core.createLookup(options)).createAccount();
    const code = codeOf("Keys and counting", "authenticate", await readPage("docs/lookup.md"));
    const accountOf = (user: unknown) => (user === undefined ? undefined : account);
    const { createLookup } = core;
    const lookup = (await run(code, { accountOf, createLookup, options }, "lookup")) as core.Lookup;
    host.mount(closing(lookup), "/people");
    const url = `${await serve(host)}/people/v2/account`;
    expect([await statusOf(url, ADA), await statusOf(url)]).toEqual([200, 401]);
  },
};

async function newLookup(options = {}) {
  const made = await createTestLookup(options);
  closing(made.lookup);
  return made;
}

describe.each([
  ["Express", expressHost],
  ["Koa", koaHost],
] as const)("in %s", (_, createHost) => {
  test.each(Object.entries({ ...RECIPES, ...ELSEWHERE }))(
    "the code of %j does what its page says",
    async (_name, check) => {
      await check(createHost());
    },
  );
});

test("every block of the recipes, and every block of two hosts with call.context, was run in both", async () => {
  const pages = await readPages();
  const isOfTwo = ({ code }: Block) => /ctx\.state in Koa, req in Express/.test(code);
  const wanted = [...blocksIn([recipes], "js"), ...blocksIn(pages, "js", "ts").filter(isOfTwo)];
  expect(wanted.map(placeOf).filter((place) => !used.has(place))).toEqual([]);
  // The others stand in the chapter of their host, whose name is in the comment.
  const others = blocksIn(pages, "js", "ts").filter(
    (block) => !isOfTwo(block) && /\bcontext\b.*\buser\b/.test(block.code),
  );
  for (const { code, page, line } of others)
    expect(code, placeOf({ page, line })).toMatch(/call\.context (?:is|in authorize)|context: \(/);
});
