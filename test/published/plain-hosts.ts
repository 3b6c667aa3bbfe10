import { type Block, blocksIn, readPages } from "../documents/pages.ts";
import type { FlowOptions } from "./flow.ts";
import type { HostRow } from "./host-table.ts";

const isArm = process.arch === "arm64";
/** The packages of other runtimes, which have no install script, and how these run a program there. */
export const RUNTIMES = {
  bun: {
    name: `@oven/bun-linux-${isArm ? "aarch64" : "x64"}`,
    program: ["bin/bun"],
  },
  deno: { name: `@deno/linux-${isArm ? "arm64" : "x64"}-glibc`, program: ["deno", "run", "-A"] },
} as const;

/** A host that needs no project of its own. */
export interface PlainHost extends HostRow, FlowOptions {
  /** What runs the program. @default Node */
  runtime?: keyof typeof RUNTIMES;
  /** Names in `node_modules`, for the versions of the table. @default Node itself */
  packages?: readonly string[];
  /** The mount path. @default "/img" */
  path?: string;
  isTls?: boolean;
  /** An address of the host's own, which answers 200. */
  own?: string;
  /** Path to content. The first is the program that runs. */
  files(place: HostPlace): Record<string, string>;
}

export interface HostPlace {
  port: number;
  /** The address of the mount. */
  base: string;
}

const blocks = blocksIn(await readPages(), "js");

const PAGE = "docs/mounting.md";

/** The program of docs/mounting.md that contains `text`, with each `[shown, real]` replaced. */
function program(text: string, ...places: (readonly [shown: string, real: string])[]): string {
  const found: Block[] = blocks.filter((block) => block.page === PAGE && block.code.includes(text));
  const [block] = found;
  if (block === undefined || found.length > 1)
    throw new Error(`${PAGE}: ${found.length} programs with ${text}`);
  return places.reduce((code, [shown, real]) => {
    if (!code.includes(shown)) throw new Error(`${PAGE}: the program with ${text} lacks ${shown}`);
    return code.replace(shown, real);
  }, block.code);
}

/** What the reader of a page has: the names of its comment `given`. */
const IMAGES = `
import { createFsBlobStore, createImages } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import { createPages } from "@outrigger/web";
const images = createImages({
  storage: createFsBlobStore({ directory: "./data" }),
  renderer: createRenderer(),
  pages: createPages(),
});
`;
const shutdown = (from: string, server: string) => `
import { createShutdown } from "@outrigger/${from}";
process.once("SIGTERM", createShutdown(${server}, [images]));
`;
const USER = { Authorization: "Bearer of the test" };
const USER_OF = `(headers) => (headers.authorization === "${USER.Authorization}" ? { id: "user" } : undefined)`;

const express = (host: string, name: string, runtime?: keyof typeof RUNTIMES): PlainHost => ({
  ...{ host, adapter: "@outrigger/express", packages: [name], user: USER, own: "/notes" },
  ...(runtime && { runtime }),
  files: ({ port, base }) => ({
    "app.js": `
const userOf = ${USER_OF};
const identifyUser = (req, _res, next) => { req.user = userOf(req.headers); next(); };
const notes = (_req, res) => { res.send("My app"); };
${program("express.json()", ['"https://example.com/img"', `"${base}"`], ['from "express"', `from "${name}"`])}
${shutdown("express", `app.listen(${port})`)}`,
  }),
});

const koa = (host: string, name: string): PlainHost => ({
  ...{ host, adapter: "@outrigger/koa", packages: [name], user: USER, own: "/notes" },
  files: ({ port, base }) => ({
    "app.js": `
const userOf = ${USER_OF};
const identifyUser = (ctx, next) => { ctx.state.user = userOf(ctx.headers); return next(); };
const notes = { routes: () => (ctx, next) => { if (ctx.path === "/notes") ctx.body = "My app"; else return next(); } };
${program("bodyParser()", ['"https://example.com/img"', `"${base}"`], ['from "koa"', `from "${name}"`])}
${shutdown("koa", `app.listen(${port})`)}`,
  }),
});

const fastifyBy = (name: string): PlainHost => ({
  ...{ host: `[Fastify](#connect-polka-and-fastify) by ${name}`, adapter: "@outrigger/express" },
  packages: ["fastify", name],
  files: ({ port }) => ({
    "app.js": `${IMAGES}${program("@fastify/middie", ["@fastify/middie", name], ["3000", String(port)])}
${shutdown("express", "app.server")}`,
  }),
});

const connect = (name: string): PlainHost => ({
  ...{ host: `[${name}](#connect-polka-and-fastify)`, adapter: "@outrigger/express" },
  ...{ packages: [name], own: "/own" },
  files: ({ port }) => ({
    "app.js": `${IMAGES}${program('from "connect"', ['from "connect"', `from "${name}"`])}
app.use("/own", (_req, res) => res.end("My app"));
${shutdown("express", name === "polka" ? `app.listen(${port}).server` : `app.listen(${port})`)}`,
  }),
});

const TLS =
  'import { readFileSync } from "node:fs";\nconst [key, cert] = ["../key.pem", "../certificate.pem"].map((path) => readFileSync(path));\n';
const LISTENER = "\ncreateServer(nodeListener(images)).listen(3000)";
const plain = (port: number) => program(LISTENER, ["3000", String(port)]);

/** The servers of Node, by the program for other frameworks and the lines below it. */
const node = (module: string, server: string): Pick<PlainHost, "host" | "adapter" | "path" | "files"> => ({
  ...{ host: `[\`node:${module}\`](#other-frameworks)`, adapter: "@outrigger/node", path: "" },
  files: ({ port }) => ({
    "app.js": `${module === "http" ? "" : `${TLS}import * as ${module} from "node:${module}";\n`}${program(
      LISTENER,
      [LISTENER, `\nconst server = ${server}.listen(${port})`],
    )}${shutdown("node", "server")}`,
  }),
});

export const PLAIN_HOSTS: readonly PlainHost[] = [
  express("[Express 5](#express)", "express"),
  express("[Express 4](#express)", "express-4"),
  koa("[Koa 3](#koa)", "koa"),
  koa("[Koa 2](#koa)", "koa-2"),
  {
    ...{ host: "[Fastify](#fastify)", adapter: "@outrigger/node", packages: ["fastify"], own: "/" },
    files: ({ port }) => ({
      "app.js": withPages(program("serverFactory", ["3000", String(port)])),
    }),
  },
  fastifyBy("@fastify/express"),
  fastifyBy("@fastify/middie"),
  {
    ...{ host: "[Hono](#hono) on Node", adapter: "@outrigger/fetch", own: "/" },
    packages: ["hono", "@hono/node-server"],
    files: ({ port }) => ({
      "app.js": withPages(program('from "hono"', ["3000", String(port)])),
    }),
  },
  {
    ...{ host: "[Bun](#bun-and-deno)", adapter: "@outrigger/fetch", runtime: "bun", own: "/" },
    files: ({ port }) => ({ "app.js": withPages(program("Bun.serve", ["3000", String(port)])) }),
  },
  {
    ...{ host: "[Elysia](#bun-and-deno) on Bun", adapter: "@outrigger/fetch", runtime: "bun", own: "/" },
    packages: ["elysia"],
    files: ({ port }) => ({
      "app.js": `${IMAGES}import { toFetchHandler } from "@outrigger/fetch";
const handler = ${/toFetchHandler\(images, \{.*?\n\}\);/s.exec(program("Bun.serve"))?.[0]}
${program('from "elysia"', ["3000", String(port)])}`,
    }),
  },
  express("[Express 5](#bun-and-deno) on Bun", "express", "bun"),
  {
    ...{ host: "[Deno](#bun-and-deno)", adapter: "@outrigger/fetch", runtime: "deno", own: "/" },
    files: ({ port }) => ({
      "app.js": `${IMAGES}import { toFetchHandler } from "@outrigger/fetch";
${program("Deno.serve", ["3000", String(port)])}`,
    }),
  },
  express("[Express 5](#bun-and-deno) on Deno", "express", "deno"),
  connect("connect"),
  connect("polka"),
  node("http", "createServer(nodeListener(images))"),
  { ...node("https", "https.createServer({ key, cert }, nodeListener(images))"), isTls: true },
  {
    ...node("http2", "http2.createSecureServer({ key, cert, allowHTTP1: true }, nodeListener(images))"),
    ...{ isTls: true, isHttp2: true },
  },
  {
    ...{
      host: "[`node:cluster`](#cluster-and-worker-threads), 3 processes",
      path: "",
      isSpread: true,
    },
    adapter: "@outrigger/node",
    files: ({ port }) => ({ "app.js": program("cluster.isPrimary", ["3000", String(port)]) }),
  },
  {
    ...{ host: "[`node:worker_threads`](#cluster-and-worker-threads)", path: "" },
    adapter: "@outrigger/node",
    files: ({ port }) => ({
      "app.js": `import { Worker } from "node:worker_threads";\nnew Worker(new URL("./server.js", import.meta.url));\n`,
      "server.js": plain(port),
    }),
  },
];

/** The program with the pages, which a page of few lines leaves out. */
function withPages(code: string): string {
  const renderer = "renderer: createRenderer(),";
  if (!code.includes(renderer)) throw new Error("The program has no renderer");
  return `import { createPages } from "@outrigger/web";\n${code.replace(renderer, `${renderer} pages: createPages(),`)}`;
}
