// What a reader of the guides already has. A block takes names from here by `<!-- given: images, koaApp as app -->`.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import type { ImagesClient, LookupClient } from "@outrigger/client";
import type { Images, ImagesOptions, Lookup, LookupOptions } from "@outrigger/core";
import type { Page, Renderer } from "@outrigger/core/images";
import type { Account } from "@outrigger/core/lookup";
import type { BlobStore } from "@outrigger/core/stores";
import type { Express, RequestHandler } from "express";
import type { Hono } from "hono";
import type Koa from "koa";

export { createServer } from "node:http";
export * from "@outrigger/core";
export { express } from "@outrigger/express";
export { toFetchHandler } from "@outrigger/fetch";
export { koa } from "@outrigger/koa";
export { nodeListener } from "@outrigger/node";
export { createMailLists, createMailProber } from "@outrigger/verifier";
export { createAdminPages, createPages } from "@outrigger/web";

export declare const app: Express;
export declare const internalApp: Express;
export declare const honoApp: Hono<{ Bindings: HttpBindings }>;
export declare const koaApp: Koa;
export declare class AppModule {}
export declare const identifyUser: RequestHandler;
export declare const koaIdentifyUser: Koa.Middleware;
export declare const notes: RequestHandler;
export declare const koaNotes: { routes(): Koa.Middleware };
export declare const server: import("node:http").Server;
export declare const req: IncomingMessage;
export declare const res: ServerResponse;
export declare const yourHandler: (req: IncomingMessage, res: ServerResponse) => void;
export declare const isOurProxy: (address: string | undefined) => boolean;

type Answer = globalThis.Response | Promise<globalThis.Response>;
export interface BunServer {
  requestIP(request: globalThis.Request): { address: string } | null;
  stop(): Promise<void>;
}
export declare const Bun: {
  serve(options: {
    port: number;
    routes: Record<string, (request: globalThis.Request, server: BunServer) => Answer>;
  }): BunServer;
};
export declare const Deno: {
  serve(
    options: { port: number },
    handler: (request: globalThis.Request, info: { remoteAddr: { hostname: string } }) => Answer,
  ): { shutdown(): Promise<void> };
};
export declare const handler: (request: globalThis.Request, server: unknown) => Promise<globalThis.Response>;

export declare const images: Images;
export declare const lookup: Lookup;
export declare const options: ImagesOptions;
export declare const lookupOptions: LookupOptions;
export declare const storage: BlobStore;
export declare const renderer: Renderer;
export declare const accountOf: (user: unknown) => Account | undefined;
export declare const ownUploadPage: (view: unknown) => Page;
export declare const createXxxBlobStore: (options: { url: string }) => BlobStore;
export declare const config: { secret: string };
export declare const secret: string;
export declare const cache: NonNullable<import("@outrigger/verifier").MailProberOptions["cache"]>;

export declare const id: string;
/** IDs of images. */
export declare const ids: readonly string[];
export declare const pin: string;
export declare const ticket: string;
export declare const revision: string;
export declare const email: string;
export declare const user: { id: string; avatar: string | null };

export declare const imagesClient: ImagesClient;
export declare const lookupClient: LookupClient;
export declare const apiKey: string;
export declare const file: File;
export declare const abort: AbortController;
export declare const bar: { show(share: number): void };
export declare const purgeTag: (tag: string) => Promise<void>;
export declare const show: (share: number) => void;
export declare const tell: (message: string) => void;
export declare const url: string;
