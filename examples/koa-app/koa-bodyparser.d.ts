// koa-bodyparser brings no types of its own.
declare module "koa-bodyparser" {
  export default function bodyParser(): import("koa").Middleware;
}
