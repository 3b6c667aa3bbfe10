import { readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { serveForAll, start } from "./served.ts";

/** Each test starts several processes, possibly on a busy machine. */
const PATIENT = { timeout: 90_000 };
const ID = "-q2_7wQdY0mJcX8bRkLh1A";
const TABLE = "email,name\r\nada@example.com,Ada\r\nbob@example.com,Bob\r\ncyd@example.com,Cyd\r\n";
const RESULT = `${TABLE.replaceAll("\r\n", ",deliverable\r\n").replace(",deliverable", ",result")}`;
const site = serveForAll();

interface Answer {
  status: number;
  type: string;
  body: string;
}

const json = (status: number, value: object): Answer => ({
  ...{ status, type: "application/json", body: JSON.stringify(value) },
});

/** A service that verifies a list of three addresses, one of them per request for its progress. */
async function scripted({ unpaid = 0, failures = 0 } = {}) {
  const requests: string[] = [];
  let uploaded: { type: string | undefined; body: string } | null = null;
  let done = 0;
  let left = failures;
  const url = await site.instead(async (request: IncomingMessage, response: ServerResponse) => {
    const path = `${request.method} ${request.url}`;
    requests.push(path);
    const { status, type, body } = await answer(request, path);
    response.writeHead(status, { "Content-Type": type }).end(body);
  });

  async function answer(request: IncomingMessage, path: string): Promise<Answer> {
    if (request.headers["x-api-key"] !== "key") {
      return json(401, { errors: [{ id: "authentication_failed", code: 401, details: "No user found" }] });
    }
    if (path === "POST /v2/email-verifications") {
      uploaded = { type: request.headers["content-type"], body: await text(request) };
      return json(202, { data: { id: ID, total: 3, done: 0, status: "queued" } });
    }
    if (path === `GET /v2/email-verifications/${ID}.csv`) {
      return { status: 200, type: "text/csv; charset=utf-8", body: RESULT };
    }
    if (path.startsWith(`GET /v2/email-verifications/${ID}?`)) {
      if (left-- > 0) return json(503, { errors: [{ id: "unavailable", code: 503, details: "Busy" }] });
      const status = done === 3 ? "done" : "running";
      const results = ["ada", "bob", "cyd"].map((name, index) => ({
        email: `${name}@example.com`,
        ...(index < unpaid
          ? { result: null, status: "not_paid" }
          : { result: "deliverable", status: "valid" }),
      }));
      const data = { id: ID, total: 3, done, status, results };
      done = Math.min(3, done + 1);
      return json(200, { data, meta: { results: 3, offset: 0, limit: 1000 } });
    }
    return json(404, { errors: [{ id: "not_found", code: 404, details: "There is no list with this ID" }] });
  }

  return { env: { OUTRIGGER_URL: url, OUTRIGGER_API_KEY: "key" }, requests, uploaded: () => uploaded };
}

describe("outrigger verify --csv", PATIENT, () => {
  it("sends the file, waits until the list is done, and prints the CSV with the results", async () => {
    const service = await scripted({ failures: 1 });
    await writeFile(join(site.cwd(), "people.csv"), TABLE);
    const { code, stdout, stderr } = await site.run(["verify", "--csv", "people.csv"], service.env);
    expect([code, stdout]).toEqual([0, RESULT]);
    expect(stderr).toBe(`outrigger: 3 addresses, list ${ID}\noutrigger: 3 deliverable\n`);
    expect(service.uploaded()).toEqual({ type: "text/csv", body: TABLE });
    expect(service.requests.filter((each) => each.startsWith("POST"))).toHaveLength(1);
  });

  it("reads standard input, and --out writes a file", async () => {
    const service = await scripted();
    const args = ["verify", "--csv", "-", "--out", "verified.csv", "--quiet"];
    const { code, stdout } = await site.run(args, service.env, Buffer.from(TABLE));
    expect([code, stdout, service.uploaded()?.body]).toEqual([0, "", TABLE]);
    expect(await readFile(join(site.cwd(), "verified.csv"), "utf8")).toBe(RESULT);
  });

  it("exits with 1 and the number of addresses that the allowance did not cover", async () => {
    const service = await scripted({ unpaid: 2 });
    const { code, stdout, stderr } = await site.run(["verify", "--id", ID], service.env);
    expect([code, stdout]).toEqual([1, RESULT]);
    expect(stderr).toBe(
      "outrigger: 1 deliverable\noutrigger: 2 not verified: the allowance of the month is used up\n",
    );
  });

  it("prints on Ctrl-C how to continue, exits with 130, and --id then prints the results", async () => {
    const service = await scripted({ failures: 1000 });
    await writeFile(join(site.cwd(), "people.csv"), TABLE);
    const to = service.env.OUTRIGGER_URL;
    const { child, ended } = start(["verify", "--csv", "people.csv", "--to", to], {
      cwd: site.cwd(),
      env: service.env,
    });
    await expect.poll(() => service.requests.length, { timeout: 60_000 }).toBeGreaterThan(1);
    child.kill("SIGINT");
    const { code, stdout, stderr } = await ended;
    expect([code, stdout]).toEqual([130, ""]);
    expect(stderr.split("\n")).toEqual([
      `outrigger: 3 addresses, list ${ID}`,
      `outrigger: The service keeps the list; continue with outrigger verify --id ${ID} --to ${to}`,
      "outrigger: Stopped",
      "",
    ]);
    const other = await scripted();
    const continued = await site.run(["verify", "--id", ID], other.env);
    expect([continued.code, continued.stdout]).toEqual([0, RESULT]);
  });

  it("exits with 1 for an unknown list, a wrong key and an unreadable file", async () => {
    const service = await scripted();
    const runs = await Promise.all([
      site.run(["verify", "--id", "unknown"], service.env),
      site.run(["verify", "--csv", "-"], { ...service.env, OUTRIGGER_API_KEY: "hush" }, Buffer.from(TABLE)),
      site.run(["verify", "--csv", "absent.csv"], service.env),
    ]);
    expect(runs.map(({ code, stdout }) => [code, stdout])).toEqual([1, 1, 1].map((code) => [code, ""]));
    const [unknown, wrong, absent] = runs.map(({ stderr }) => stderr);
    expect(unknown).toMatch(/^outrigger: unknown: There is no list with this ID \(.*\)\n$/);
    expect(wrong).toBe("outrigger: -: No user found\n");
    expect(absent).toContain("absent.csv cannot be read");
  });
});

it(
  "verify --csv prints the verdicts of a running service beside the columns of the file",
  PATIENT,
  async () => {
    const rows = "name,email\nAda,ada.lovelace@example.com\nTypo,x@y\nElse,someone.else@example.com\n";
    const { code, stdout, stderr } = await site.run(["verify", "--csv", "-"], {}, Buffer.from(rows));
    expect(stdout.split("\r\n").map((line) => line.split(",").slice(0, 5))).toEqual([
      ["name", "email", "result", "status", "score"],
      ["Ada", "ada.lovelace@example.com", "deliverable", "valid", "100"],
      ["Typo", "x@y", "undeliverable", "invalid", "0"],
      ["Else", "someone.else@example.com", "risky", "unknown", "30"],
      [""],
    ]);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(
        /^outrigger: 3 addresses, list [\w-]{22}\noutrigger: 1 deliverable, 1 undeliverable, 1 risky\n$/,
      ),
    ]);
  },
);
