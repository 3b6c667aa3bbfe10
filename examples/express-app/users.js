// @ts-check
import { randomBytes } from "node:crypto";
import { isServiceError } from "@outrigger/core";
import { Router } from "express";

/**
 * Sign-up, and the avatars of users. Both call Outrigger in code, without a request to `/img`.
 * @param {{
 *   images: import("@outrigger/core").Images,
 *   lookup: import("@outrigger/core").Lookup,
 *   tokens: Map<string, string>,
 *   requireUser: import("express").RequestHandler,
 * }} options User names by token; a new user's is added.
 */
export function users({ images, lookup, tokens, requireUser }) {
  /** @type {Map<string, string>} The IDs of avatars by user name. They are kept for ever. */
  const avatars = new Map();
  const router = Router();

  router.post("/", async (req, res) => {
    const { email } = req.body ?? {};
    const { data } = await lookup.verifyEmail(email, { maxDurationMs: 3000 });
    // An unknown or unfinished verdict is no reason to turn someone away.
    if (data.status === "invalid" || data.status === "disposable") {
      res.status(422).json({ error: `This address is ${data.status}`, suggestion: data.suggestion });
      return;
    }
    const token = randomBytes(16).toString("hex");
    tokens.set(token, data.email);
    res.status(201).json({ name: data.email, token });
  });

  router.put("/me/avatar", requireUser, async (req, res) => {
    const owner = String(res.locals.user);
    const { id } = await images.add(req, { name: `Avatar of ${owner}`, owner, expiresAt: null });
    const previous = avatars.get(owner);
    avatars.set(owner, id);
    // It may have been deleted by its PIN.
    if (previous !== undefined) await images.remove(previous).catch(ignoreGone);
    const avatar = await images.address(id, { format: "webp", resize: "96x96" });
    // Without `publicUrl`, addresses begin at the mount point.
    res.status(201).json({ avatar: `/img${avatar}` });
  });

  return router;
}

/** @param {unknown} error */
function ignoreGone(error) {
  if (!isServiceError(error, "gone")) throw error;
}
