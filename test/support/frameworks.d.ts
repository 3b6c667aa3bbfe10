/** Older majors under names of their own. What the tests call of them has the same types in the newer ones. */
declare module "express-4" {
  export { default } from "express";
}
declare module "koa-2" {
  export { default } from "koa";
}
/** What the tests call of a framework without types. */
declare module "polka" {
  import type { RequestListener } from "node:http";

  interface App {
    use(path: string, middleware: unknown): App;
    handler: RequestListener;
  }
  export default function polka(): App;
}
/** Its own types need those of Bun. */
declare module "elysia" {
  interface Context {
    request: Request;
    server: unknown;
  }
  type Handler = (context: Context) => unknown;

  export class Elysia {
    get(path: string, handler: Handler): this;
    all(path: string, handler: Handler, hook: { parse: "none" }): this;
    listen(port: number): this;
  }
}
