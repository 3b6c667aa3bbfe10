/** How Outrigger is mounted in one kind of app, in the words of its guide. */
export interface Host {
  /** Its name in messages. */
  title: string;
  /** Packages of which one in `package.json` shows this host. */
  signs: readonly string[];
  /** The package that mounts Outrigger there. */
  adapter: string;
  /** Lines that import what {@link code} uses, besides those of {@link COMMON_IMPORTS}. */
  imports: readonly string[];
  /** Lines that create `images`. @default {@link SERVICE} */
  service?: readonly string[];
  /** Lines after those that create `images`. */
  code: readonly string[];
  /** Where the lines go, after the name of the file. */
  place: string;
  /** A file of their own for the lines; absent: the app's main file. */
  file?: string;
  /** The page with all details. */
  guide: string;
}

export const COMMON_PACKAGES = ["@outrigger/core", "@outrigger/imaging", "@outrigger/web"];

export const COMMON_IMPORTS = [
  'import { createFsBlobStore, createImages } from "@outrigger/core";',
  'import { createRenderer } from "@outrigger/imaging";',
  'import { createPages } from "@outrigger/web";',
];

const KEEP_UPLOADS =
  "  // defaultLifetimeMs: null, maxLifetimeMs: null, // keeps uploads for ever; by default they expire after 24 hours";

/** Creates the service. */
export const SERVICE = [
  "const images = createImages({",
  '  storage: createFsBlobStore({ directory: "./data" }),',
  "  renderer: createRenderer(),",
  "  pages: createPages(),",
  KEEP_UPLOADS,
  "});",
];

export const HOSTS = {
  express: {
    title: "Express",
    signs: ["express"],
    adapter: "@outrigger/express",
    imports: ['import { express as outrigger } from "@outrigger/express";'],
    code: ['app.use("/img", outrigger(images)); // before the body parsers'],
    place: "after the app is created, before body parsers such as express.json()",
    guide: "docs/mounting.md",
  },
  koa: {
    title: "Koa",
    signs: ["koa"],
    adapter: "@outrigger/koa",
    imports: ['import { koa as outrigger } from "@outrigger/koa";'],
    code: ['app.use(outrigger(images, { prefix: "/img" })); // before the body parsers'],
    place: "after the app is created, before the body parsers",
    guide: "docs/mounting.md",
  },
  fastify: {
    title: "Fastify",
    signs: ["fastify"],
    adapter: "@outrigger/node",
    imports: [
      'import { createServer } from "node:http";',
      'import { nodeListener } from "@outrigger/node";',
      'import { fastify } from "fastify";',
    ],
    code: [
      'const listener = nodeListener(images, { mountPath: "/img" });',
      "",
      "const app = fastify({",
      "  serverFactory: (handler) =>",
      "    createServer((req, res) => {",
      '      if (/^\\/img(?:[/?]|$)/.test(req.url ?? "")) listener(req, res);',
      "      else handler(req, res);",
      "    }),",
      "});",
      'app.addHook("onClose", () => images.close());',
    ],
    place: "instead of the lines that import fastify and create the app",
    guide: "docs/mounting.md",
  },
  nest: {
    title: "NestJS",
    signs: ["@nestjs/core"],
    adapter: "@outrigger/express",
    imports: ['import { express } from "@outrigger/express";'],
    code: ['app.use("/img", express(images));'],
    place: "after NestFactory.create, before app.listen",
    guide: "docs/mounting.md",
  },
  next: {
    title: "Next.js",
    signs: ["next"],
    adapter: "@outrigger/fetch",
    imports: ['import { toFetchHandler } from "@outrigger/fetch";'],
    service: [
      "const images = (globalThis.outriggerImages ??= createImages({",
      '  storage: createFsBlobStore({ directory: process.env.IMAGES_DIRECTORY ?? "./data" }),',
      "  renderer: createRenderer(),",
      "  pages: createPages(),",
      "  publicUrl: process.env.IMAGES_URL, // such as https://example.com/img",
      '  tls: "off",',
      KEEP_UPLOADS,
      "}));",
    ],
    code: [
      "const handler = toFetchHandler(images, {",
      '  prefix: "/img",',
      '  clientAddress: (request) => request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim(),',
      "});",
      "",
      'export const dynamic = "force-dynamic";',
      "export {",
      "  handler as DELETE,",
      "  handler as GET,",
      "  handler as HEAD,",
      "  handler as OPTIONS,",
      "  handler as PATCH,",
      "  handler as POST,",
      "  handler as PUT,",
      "};",
    ],
    file: "app/img/[[...path]]/route.js",
    place: "a new file. The guide names the lines of next.config.mjs",
    guide: "docs/mounting.md",
  },
  hono: {
    title: "Hono",
    signs: ["hono"],
    adapter: "@outrigger/fetch",
    imports: ['import { toFetchHandler } from "@outrigger/fetch";'],
    code: [
      "const handler = toFetchHandler(images, {",
      '  prefix: "/img",',
      "  clientAddress: (_request, c) => c.env.incoming.socket.remoteAddress,",
      '  context: (_request, c) => c, // call.context in authorize: c.get("user")',
      "});",
      'app.all("/img/*", (c) => handler(c.req.raw, c));',
    ],
    place: "after the app is created. The app must run on Node with @hono/node-server",
    guide: "docs/mounting.md",
  },
  node: {
    title: "node:http",
    signs: [],
    adapter: "@outrigger/node",
    imports: ['import { createServer } from "node:http";', 'import { nodeListener } from "@outrigger/node";'],
    code: [
      'const listener = nodeListener(images, { mountPath: "/img" });',
      "createServer((req, res) => {",
      '  if (/^\\/img(?:[/?]|$)/.test(req.url ?? "")) listener(req, res);',
      "  else yourHandler(req, res); // app.callback(), fastify.routing, next.getRequestHandler(), …",
      "}).listen(3000);",
    ],
    place: "instead of your own createServer. yourHandler is your request listener",
    guide: "docs/mounting.md",
  },
} as const satisfies Record<string, Host>;

export type HostName = keyof typeof HOSTS;
