// @ts-check
import { randomBytes } from "node:crypto";
import { Router } from "express";

/**
 * Sign-up, and the API keys of users. Each user has an account of the lookup, which counts the user's calls.
 * @param {import("@outrigger/core").Lookup} lookup
 */
export function users(lookup) {
  /** @type {Map<string, { email: string, account: string }>} Users by token. A real app keeps them in its database. */
  const signedIn = new Map();
  const router = Router();

  router.post("/", async (req, res) => {
    const { email } = req.body ?? {};
    const { data } = await lookup.verifyEmail(email, { maxDurationMs: 3000 });
    // An unknown or unfinished verdict is no reason to turn a user away.
    if (data.status === "invalid" || data.status === "disposable") {
      res.status(422).json({ error: `This address is ${data.status}`, suggestion: data.suggestion });
      return;
    }
    const { account } = await lookup.createAccount({ email: data.email });
    const token = randomBytes(16).toString("hex");
    signedIn.set(token, { email: data.email, account: account.id });
    res.status(201).json({ name: data.email, token });
  });

  router.use("/me", (req, res, next) => {
    const token = /^Bearer (\S+)$/.exec(req.get("authorization") ?? "")?.[1] ?? "";
    res.locals.user = signedIn.get(token);
    if (res.locals.user !== undefined) next();
    else res.status(401).set("WWW-Authenticate", "Bearer").json({ error: "Sign up first" });
  });

  router.post("/me/keys", async (_req, res) => {
    res.status(201).json({ key: await lookup.createKey(res.locals.user.account) });
  });

  router.delete("/me/keys/:hint", async (req, res) => {
    const count = await lookup.revokeKeys(res.locals.user.account, req.params.hint);
    if (count === 0) res.status(404).json({ error: "No valid key begins so" });
    else res.status(204).end();
  });

  return router;
}
