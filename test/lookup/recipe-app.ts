import * as crypto from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as consumers from "node:stream/consumers";
import * as core from "@outrigger/core";
import * as verifier from "@outrigger/verifier";
import express from "express";
import { onTestFinished } from "vitest";
import { runBlock } from "../documents/run-block.ts";
import { createTestLookup } from "./lookup-site.ts";

const guide = await readFile(new URL("../../docs/recipes.md", import.meta.url), "utf8");
const [, section = ""] = /^## Learn from bounces\n(.*?)^## /ms.exec(guide) ?? [];
const blocks = [...section.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = ""]) => code);
/** The blocks of the recipe, in their order. */
export const [LEARN = "", SES = "", POSTMARK = "", SENDGRID = "", PIPE = ""] = blocks;

const MODULES: Record<string, unknown> = {
  "@outrigger/core": core,
  "@outrigger/verifier": verifier,
  "node:crypto": crypto,
  "node:stream/consumers": consumers,
};

/** An app with the route of a block, and the verdicts of its lookup. Closed at the end of the test. */
export async function startApp(code: string, given: Record<string, unknown> = {}, framework = express) {
  const { lookup } = await createTestLookup({
    // A mail server that accepts every name at first.
    prober: {
      probe: async () => ({
        ...{ routing: "found", server: true, mailbox: true, acceptsAll: false },
        ...{ reason: null, retryAfterMs: null },
      }),
      close: async () => undefined,
    },
  });
  const app = framework();
  const learning = await runBlock(LEARN, { lookup, modules: MODULES }, "{ learn, caught }");
  const modules = { ...MODULES, express: framework };
  await runBlock(code, { app, lookup, ...Object(learning), modules, ...given });
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await lookup.close();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const statusesOf = async (...emails: string[]) =>
    Promise.all(emails.map(async (email) => (await lookup.verifyEmail(email)).data.status));
  const post = async (path: string, body: string, headers: Record<string, string>) =>
    (await fetch(`${base}${path}`, { method: "POST", body, headers })).status;
  return { lookup, statusesOf, post };
}
