import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Contact, ContactSource } from "@outrigger/core";
import { MAX_EVIDENCE } from "@outrigger/core/lookup";
import { contactSourceContract } from "@outrigger/testing";
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

describe("the contact source in docs/lookup.md", () => {
  type CreateListSource = (people: Contact[], companies: Map<string, string>) => ContactSource;
  interface ListSource extends ContactSource {
    people: Contact[];
    companies: Map<string, string>;
  }

  let directory: string;
  let createListSource: CreateListSource;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "outrigger-docs-"));
    const code = blocksOf("js").find((block) =>
      block.code.includes("export function createListSource"),
    )?.code;
    assert.ok(code);
    const { resolve } = createRequire(import.meta.url);
    const resolved = code.replace(/"(@outrigger\/[^"]+)"/g, (_, name: string) =>
      JSON.stringify(pathToFileURL(resolve(name)).href),
    );
    const file = join(directory, "list-source.mjs");
    await writeFile(file, resolved);
    ({ createListSource } = await import(pathToFileURL(file).href));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  async function create(): Promise<ListSource> {
    const [people, companies]: [Contact[], Map<string, string>] = [[], new Map()];
    return { ...createListSource(people, companies), people, companies };
  }

  contactSourceContract(test, create, {
    async load({ people, companies }, { contacts, organizations = {} }) {
      const news = new Set(contacts.map(({ address }) => address));
      const kept = people.filter(({ address }) => !news.has(address));
      // The evidence that the list in the docs promises.
      const tidy = contacts.map((contact) => ({
        ...contact,
        evidence: contact.evidence
          .toSorted((a, b) =>
            (a.lastSeenOn ?? "") < (b.lastSeenOn ?? "")
              ? 1
              : (a.lastSeenOn ?? "") > (b.lastSeenOn ?? "")
                ? -1
                : 0,
          )
          .slice(0, MAX_EVIDENCE),
      }));
      people.splice(0, people.length, ...kept, ...tidy);
      for (const [domain, name] of Object.entries(organizations)) companies.set(domain, name);
    },
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
