import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { images } from "../../packages/server/test/images-command.ts";
import {
  jpeg,
  type OutriggerProcess,
  outrigger,
  serve,
  temporaryDirectory,
  uploaded,
} from "../../packages/server/test/outrigger-process.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { amount } from "../support/soak.ts";

const KILLS = amount(6, 60);
/** With those that got no answer fewer than 20 per image, so that none of their texts is left out. */
const REPORTS = amount(200, 2000);
const IMAGES = REPORTS / 10;
const CLIENTS = 8;
const HOURS = 24;

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.close());

interface Acknowledged {
  id: string;
  statement: string;
  reference: string;
  dueAt: string;
}

interface Case {
  id: string;
  reference: string;
  receivedAt: string;
  dueAt: string;
  count: number;
  statements: string[];
}

/** Sends a report of a client of its own, whose text stays. `null`: the server was killed before its answer. */
async function report(base: string, id: string, n: number): Promise<Acknowledged | null> {
  const statement = `No. ${n}`;
  const body = JSON.stringify({ id, reason: "other", statement });
  const client = {
    "X-Forwarded-For": `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`,
    "X-Forwarded-Proto": "https",
  };
  const headers = { "Content-Type": "application/json", ...client };
  try {
    const response = await fetch(`${base}/api/reports.json`, { method: "POST", headers, body });
    const answer = (await response.json()) as Acknowledged; // Compared below.
    expect([response.status, answer.id]).toEqual([201, id]);
    return { ...answer, statement };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return null;
  }
}

test.each([
  ["a directory", () => "file:./data"],
  [
    "PostgreSQL",
    () => ({
      records: `${postgres.url}?prefix=reports`,
      originals: "file:./data",
      renditions: "file:./data",
    }),
  ],
])(
  "on %s, every report answered 201 is kept with its reference and date and counted once when kill -9 ends the server",
  async (_name, storage) => {
    const cwd = await temporaryDirectory();
    const options = { rateLimits: false, reports: { hours: HOURS } };
    const config = {
      ...{ storage: storage(), secret: "the same for all processes, 32 bytes", images: options },
      trustProxy: 1,
    };
    await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify(config));
    let server: OutriggerProcess = serve(cwd);
    const ids: string[] = [];
    const picture = await jpeg();
    for (let n = 0; n < IMAGES; n++) ids.push((await uploaded(await server.url, picture)).id);

    const acknowledged: Acknowledged[] = [];
    let sent = 0;
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (acknowledged.length < REPORTS) {
        const base = await server.url;
        const n = sent++;
        const answer = await report(base, ids[n % IMAGES] ?? "", n);
        if (answer === null) await delay(50);
        else acknowledged.push(answer);
      }
    });
    for (let kill = 1; kill <= KILLS; kill++) {
      const enough = (REPORTS * kill) / (KILLS + 1);
      await expect.poll(() => acknowledged.length, { interval: 1 }).toBeGreaterThan(enough);
      const killed = server;
      killed.child.kill("SIGKILL");
      server = serve(cwd);
      expect(await killed.exit).toBe("SIGKILL");
    }
    await Promise.all(clients);
    server.child.kill("SIGKILL");
    await server.exit;

    const listed = await images(cwd, "reports", "--state", "open", "--json");
    expect(listed).toMatchObject({ code: 0, stderr: "" });
    const cases: Case[] = listed.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(cases.map(({ id }) => id).sort()).toEqual([...ids].sort());
    const found = new Map(cases.map((each) => [each.id, each]));
    const lost = acknowledged.filter(({ id, statement, reference, dueAt }) => {
      const kept = found.get(id);
      return kept?.reference !== reference || kept.dueAt !== dueAt || !kept.statements.includes(statement);
    });
    expect(lost).toEqual([]);
    for (const { count, statements, receivedAt, dueAt } of cases) {
      expect([count, new Set(statements).size]).toEqual([statements.length, statements.length]);
      expect(Date.parse(dueAt) - Date.parse(receivedAt)).toBe(HOURS * 3_600_000);
    }
    const verified = outrigger(["images", "verify"], { cwd });
    expect([await verified.exit, verified.output.stdout]).toEqual([
      0,
      expect.stringContaining(`${IMAGES} images`),
    ]);
    console.info(`${acknowledged.length} of ${sent} reports acknowledged, ${KILLS} kills`);
  },
);
