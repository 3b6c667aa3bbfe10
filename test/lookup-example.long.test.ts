import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const EXAMPLE = fileURLToPath(new URL("../examples/lookup-only/", import.meta.url));
const SECRET = "the secret of the example, 32 bytes";

let directory: string;
let app: { child: ChildProcess; url: string; output: string };

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-example-"));
  app = await start(SECRET);
});

afterAll(async () => {
  await stop();
  await rm(directory, { recursive: true });
});

async function start(secret: string): Promise<typeof app> {
  const child = spawn(process.execPath, [join(EXAMPLE, "server.js")], {
    cwd: directory,
    env: { PATH: process.env.PATH ?? "", PORT: "0", LOOKUP_SECRET: secret },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  for await (const text of child.stdout.setEncoding("utf8")) {
    output += text;
    const url = /http:\/\/[^/\s]+/.exec(output)?.[0];
    if (url !== undefined) return { child, url, output };
  }
  throw new Error(output);
}

async function stop(): Promise<void> {
  const ended = once(app.child, "close");
  app.child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
}

async function send(method: string, path: string, token?: string, body?: object) {
  const headers = {
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
  };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const reply = await fetch(`${app.url}${path}`, init);
  const text = await reply.text();
  return { status: reply.status, body: text === "" ? null : JSON.parse(text) };
}

async function newUser(email: string): Promise<{ token: string; key: string }> {
  const { token } = (await send("POST", "/users", undefined, { email })).body;
  const { key } = (await send("POST", "/users/me/keys", token)).body;
  return { token, key };
}

describe("the app of examples/lookup-only", () => {
  it("depends on no package for images", async () => {
    const { dependencies } = JSON.parse(await readFile(join(EXAMPLE, "package.json"), "utf8"));
    expect(Object.keys(dependencies).toSorted()).toEqual([
      ...["@outrigger/core", "@outrigger/express", "@outrigger/sql", "@outrigger/verifier", "express"],
    ]);
  });

  it("imports its contacts at the first start", () => {
    expect(app.output).toContain("Contacts: 5 added, 0 unchanged");
  });

  it("refuses an invalid, disposable or missing address at sign-up with 422", async () => {
    for (const [email, error] of [
      ["ada..lovelace@example.com", "This address is invalid"],
      ["ada@mailinator.com", "This address is disposable"],
    ]) {
      expect(await send("POST", "/users", undefined, { email })).toMatchObject({
        status: 422,
        body: { error },
      });
    }
    expect(await send("POST", "/users", undefined, {})).toMatchObject({ status: 422 });
  });

  it("gives a user a key that opens the three calls of the lookup", async () => {
    const { key } = await newUser("user@example.net");
    const ask = async (call: string) => (await send("GET", `/people/v2/${call}&api_key=${key}`)).body.data;
    const { emails, organization } = await ask("domain-search?domain=example.com");
    expect([organization, emails.length]).toEqual(["Example Engines", 4]);
    const found = await ask("email-finder?domain=example.com&full_name=Ada+Lovelace");
    expect(found).toMatchObject({ email: "ada.lovelace@example.com", position: "Chief Analyst" });
    const verdict = await ask("email-verifier?email=grace.hopper@example.com");
    expect(verdict).toMatchObject({ status: "unknown", result: "risky" });
  });

  it("counts the calls of a user for that user alone", async () => {
    const [one, other] = [await newUser("one@example.net"), await newUser("other@example.net")];
    await send("GET", `/people/v2/email-finder?domain=example.com&full_name=Ada+Lovelace&api_key=${one.key}`);
    const used = async (key: string) =>
      (await send("GET", `/people/v2/account?api_key=${key}`)).body.data.requests.searches.used;
    expect([await used(one.key), await used(other.key)]).toEqual([1, 0]);
  });

  it("answers 401 for no key, for a revoked key, and for keys of strangers", async () => {
    const { token, key } = await newUser("leaving@example.net");
    const search = "/people/v2/domain-search?domain=example.com";
    expect(await send("GET", search)).toMatchObject({ status: 401 });
    expect(await send("POST", "/users/me/keys", "wrong")).toMatchObject({ status: 401 });
    expect(await send("DELETE", `/users/me/keys/${key.slice(0, 6)}`, token)).toMatchObject({ status: 204 });
    expect(await send("DELETE", `/users/me/keys/${key.slice(0, 6)}`, token)).toMatchObject({ status: 404 });
    expect(await send("GET", `${search}&api_key=${key}`)).toMatchObject({ status: 401 });
  });

  it("keeps its own 404", async () => {
    expect(await send("GET", "/people/nothing")).toEqual({
      status: 404,
      body: { error: "There is no /people/nothing" },
    });
  });

  it("keeps keys and contacts over a restart, and refuses to start with another secret", async () => {
    const { key } = await newUser("staying@example.net");
    await stop();
    await expect(start("another secret of the example, 32 bytes")).rejects.toThrow("secret");
    app = await start(SECRET);
    expect(app.output).toContain("Contacts: 0 added, 5 unchanged");
    expect(await send("GET", `/people/v2/account?api_key=${key}`)).toMatchObject({ status: 200 });
  });
});
