export { type Closable, createShutdown, type ShutdownOptions } from "@outrigger/node";
export { type KoaContext, type KoaMiddleware, type KoaOptions, koa } from "./koa.ts";
