export { type KoaContext, type KoaMiddleware, type KoaOptions, koa } from "./koa.ts";
