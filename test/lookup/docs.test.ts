import { readFile } from "node:fs/promises";
import type { Contact } from "@outrigger/core/lookup";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { createMailWorld, type MailSite, type MailWorld, serveMailbox, startMailSite } from "./mail-site.ts";
import { ADA, SALES } from "./people.ts";

const text = await readFile(new URL("../../docs/lookup.md", import.meta.url), "utf8");

/** Fenced blocks of a language, in order, each with its end position. */
function blocksOf(language: string): { code: string; end: number }[] {
  const fences = text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"));
  return [...fences].map((match) => ({ code: match[1] ?? "", end: match.index + match[0].length }));
}

describe("the example replies in docs/lookup.md", () => {
  let world: MailWorld;
  let site: MailSite;
  beforeAll(async () => {
    world = await createMailWorld();
    const mail = await world.hostileServer((peer) => serveMailbox(peer, "ada.lovelace", () => "250 OK"));
    world.route("example.com", mail.host);
    const ada: Contact = {
      ...ADA,
      position: "Chief Analyst",
      seniority: "executive",
      department: "executive",
      verification: { status: "valid", date: "2026-02-03" },
    };
    site = await startMailSite(world, { known: [ada, SALES], organizations: { "example.com": "Example" } });
  });
  afterAll(async () => {
    await site.close();
    await world.close();
  });

  const requests = blocksOf("http");
  test("docs/lookup.md shows three requests", () => expect(requests).toHaveLength(3));

  test.each(requests)("$code", async ({ code, end }) => {
    const url = /^GET \{base\}(\S+)$/.exec(code.trim())?.[1] ?? "";
    const { status, body } = await ask(`${site.base}${url}`, { headers: { "X-API-KEY": site.key } });
    expect(status).toBe(200);
    const shown = blocksOf("json").find((block) => block.end > end);
    expect(body).toEqual(JSON.parse(shown?.code ?? ""));
  });
});

describe("docs/lookup.md", () => {
  test("docs/lookup.md lists every reason", async () => {
    const contract = await readFile(
      new URL("../../packages/core/src/contracts/mail-prober.ts", import.meta.url),
      "utf8",
    );
    const reasons = /export type ProbeReason =(.*?);/s.exec(contract)?.[1]?.match(/(?<=\| ")\w+(?=")/g) ?? [];
    expect(reasons.length).toBeGreaterThan(10);
    expect(reasons.filter((reason) => !text.includes(`\`${reason}\``))).toEqual([]);
  });

  test("docs/lookup.md lists every error", async () => {
    const problems = await readFile(
      new URL("../../packages/core/src/lookup/http/refusal.ts", import.meta.url),
      "utf8",
    );
    const table = /const STATUS_OF.*? = \{(.*?)\};/s.exec(problems)?.[1] ?? "";
    const statuses = [...table.matchAll(/(\w+): (\d+)/g)].map(
      ([, id, status]) => [id ?? "", status ?? ""] as const,
    );
    expect(statuses.length).toBeGreaterThan(10);
    for (const [id, status] of statuses) {
      expect(text).toMatch(new RegExp(`^\\| ${status}\\s+\\|[^|]*\`${id}\``, "m"));
    }
  });
});
