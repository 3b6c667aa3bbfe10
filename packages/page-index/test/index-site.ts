import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { SqlDatabase } from "@outrigger/sql";
import { afterEachTest } from "../../../test/support/hooks.ts";
import { listen } from "../../../test/support/listen.ts";
import {
  createPageIndex,
  type IndexedDomain,
  type IndexRunOptions,
  type PageIndexOptions,
} from "../src/index.ts";

export const DOMAIN = "acme.localhost";
export const SECRET = "s".repeat(32);

/** A page, or what answers its requests. */
export type SitePage = string | ((req: IncomingMessage, res: ServerResponse) => void);

/** The site of a domain on this machine. Pages have an `ETag`, like on most servers. */
export interface IndexSite {
  origin: string;
  host: string;
  /** By path; changed by a test. */
  pages: Map<string, SitePage>;
  /** Requests since the last look, as status and path, such as `200 /team`. */
  requests(): string[];
  /** When each request came, in milliseconds. */
  timesMs: number[];
  /** Requests at the same time, at most. */
  most(): number;
  index(
    database: SqlDatabase,
    options?: Partial<PageIndexOptions>,
    run?: IndexRunOptions,
  ): Promise<IndexedDomain>;
}

const closing: (() => Promise<unknown>)[] = [];
afterEachTest(async () => {
  for (const close of closing.splice(0)) await close();
});

export async function createIndexSite(pages: Record<string, SitePage> = {}): Promise<IndexSite> {
  const known = new Map(Object.entries(pages));
  let requests: string[] = [];
  const timesMs: number[] = [];
  let open = 0;
  let most = 0;
  const server = createServer((req, res) => {
    timesMs.push(Date.now());
    most = Math.max(most, ++open);
    res.on("close", () => {
      open--;
      requests.push(`${res.statusCode} ${req.url}`);
    });
    const page = known.get(req.url ?? "");
    if (typeof page === "function") return page(req, res);
    if (page === undefined) return res.writeHead(404).end();
    answer(req, res, page);
  });
  const { port, close } = await listen(server);
  closing.push(close);
  const host = `${DOMAIN}:${port}`;
  return {
    ...{ origin: `http://${host}`, host, pages: known, timesMs },
    most: () => most,
    requests() {
      const seen = requests;
      requests = [];
      return seen;
    },
    async index(database, options = {}, run = {}) {
      const index = createPageIndex(database, {
        ...{ contact: "https://robot.example/", secret: SECRET, perHostMs: 0, internalHosts: [host] },
        ...options,
      });
      const [account] = await index.index([DOMAIN], run);
      if (account === undefined) throw new Error("no account");
      return account;
    },
  };
}

function answer(req: IncomingMessage, res: ServerResponse, page: string): void {
  const tag = `"${createHash("sha1").update(page).digest("base64url")}"`;
  res.setHeader("ETag", tag);
  if (req.headers["if-none-match"] === tag) return void res.writeHead(304).end();
  res.setHeader(
    "Content-Type",
    page.startsWith("<") && !page.startsWith("<?xml") ? "text/html; charset=utf-8" : "text/plain",
  );
  res.end(page);
}

/** A page with a card for each person, and links. */
export function pageOf(people: readonly string[], links: readonly string[] = [], head = ""): string {
  const cards = people.map((name) => {
    const local = name.toLowerCase().replace(" ", ".");
    return `<div><h3>${name}</h3><p>Engineer</p><a href="mailto:${local}@${DOMAIN}">Mail</a></div>`;
  });
  const anchors = links.map((link) => `<a href="${link}">Link</a>`);
  return `<html><head>${head}</head><body><p>${"Words of a page. ".repeat(20)}</p>${cards.join("")}${anchors.join("")}</body></html>`;
}
