import { createServer, type RequestListener } from "node:http";
import { createServer as createSocketServer, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { checkTls, examineMount, servesImages } from "./examine-mount.ts";
import type { Finding } from "./finding.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listen(server: ReturnType<typeof createSocketServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  const address = server.address();
  return `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

async function findingsAt(base: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  for await (const finding of examineMount({ base, headers: {} })) findings.push(finding);
  return findings;
}

/** What doctor says of a server that treats its connections like this. */
async function troubleWith(treat: (socket: Socket) => void, protocol = "http"): Promise<string> {
  const base = `${protocol}://${await listen(
    createSocketServer((socket) => treat(socket.on("error", () => undefined))),
  )}`;
  const [{ check, status, detail } = { check: "", status: "", detail: "" }] = await findingsAt(base);
  expect([check, status]).toEqual(["mount", "problem"]);
  return detail.replace(`${base}: `, "");
}

it("examineMount explains why a connection failed", async () => {
  expect(await troubleWith((socket) => socket.destroy())).toBe("the connection was cut without a reply");
  expect(await troubleWith((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"), "https")).toBe(
    "the server does not speak TLS, or no version that this machine accepts",
  );
  // No HTTP.
  expect(await troubleWith((socket) => socket.end("220 mail.example ESMTP\r\n"))).not.toBe("");
});

it("examineMount reports an unknown host name", async () => {
  const [finding] = await findingsAt("http://unknown.invalid");
  // Without a network the resolver does not respond.
  expect(finding).toMatchObject({
    check: "mount",
    status: "problem",
    detail: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/),
  });
});

it.each([
  ["http://img.example", "problem"],
  ["http://localhost:3000", "ok"],
])("checkTls rates %s as %s", async (base, status) => {
  expect((await checkTls(base, Number.NaN).next()).value).toMatchObject({ check: "TLS", status });
});

it.each<[string, RequestListener, boolean]>([
  ["a redirect", (_req, res) => void res.writeHead(308, { location: "https://img.example/" }).end(), false],
  ["a refusal", (_req, res) => void res.writeHead(403).end(), false],
  ["the service", (_req, res) => void res.writeHead(405, { allow: "POST, OPTIONS" }).end(), true],
])("servesImages recognises %s by its reply", async (_what, listener, isServed) => {
  expect(await servesImages(`http://${await listen(createServer(listener))}`)).toBe(isServed);
});

it("servesImages is false where nothing listens", async () => {
  const address = await listen(createSocketServer());
  for (const close of closing.splice(0)) close();
  expect(await servesImages(`http://${address}`)).toBe(false);
});
