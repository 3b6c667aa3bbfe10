// @ts-check
import { Router } from "express";

/**
 * The notes API: everybody reads, users write.
 * @param {import("express").RequestHandler} requireUser
 */
export function notes(requireUser) {
  /** @type {{ id: number, author: string, text: string, picture: string | null }[]} */
  const all = [];
  const router = Router();

  router.get("/:id", (req, res, next) => {
    const note = all.find(({ id }) => String(id) === req.params.id);
    if (note === undefined) next();
    else res.json(note);
  });

  router.post("/", requireUser, (req, res) => {
    const { text, picture = null } = req.body ?? {};
    if (typeof text !== "string" || text === "") {
      res.status(422).json({ error: "A note needs a text" });
      return;
    }
    const note = { id: all.length + 1, author: String(res.locals.user), text, picture };
    all.push(note);
    res.status(201).location(`${req.baseUrl}/${note.id}`).json(note);
  });

  return router;
}
