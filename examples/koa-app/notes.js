// @ts-check
import Router from "@koa/router";

/**
 * The notes API: everybody reads, users write.
 * @param {import("koa").Middleware} requireUser
 */
export function notes(requireUser) {
  /** @type {{ id: number, author: string, text: string, picture: string | null }[]} */
  const all = [];
  const router = new Router({ prefix: "/notes" });

  router.get("/:id", async (ctx, next) => {
    const note = all.find(({ id }) => String(id) === ctx.params.id);
    if (note !== undefined) ctx.body = note;
    else await next();
  });

  router.post("/", requireUser, async (ctx) => {
    const { text, picture = null } = Reflect.get(ctx.request, "body") ?? {};
    if (typeof text !== "string" || text === "") return ctx.throw(422, "A note needs a text");
    const note = { id: all.length + 1, author: String(ctx.state.user), text, picture };
    all.push(note);
    ctx.set("Location", `/notes/${note.id}`);
    ctx.status = 201;
    ctx.body = note;
  });

  return router.routes();
}
