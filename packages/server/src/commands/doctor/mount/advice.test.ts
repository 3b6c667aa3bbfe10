import { createServer } from "node:net";
import { afterEach, expect, it } from "vitest";
import { unanswered } from "./advice.ts";
import { exchange } from "./visit.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** The explanation for a server that treats its connections like this. */
async function troubleWith(treat: (socket: import("node:net").Socket) => void, protocol = "http") {
  const server = createServer((socket) => treat(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const failure = await exchange(new URL(`${protocol}://127.0.0.1:${port}/`), { silenceMs: 200 }).catch(
    (error: unknown) => error,
  );
  return unanswered("mount", failure).detail;
}

it("unanswered explains why a connection failed", async () => {
  expect(await troubleWith((socket) => socket.destroy())).toBe("the connection was cut without a reply");
  expect(await troubleWith((socket) => socket.resume())).toBe("nothing answers in time");
  expect(await troubleWith((socket) => socket.end("220 mail.example ESMTP\r\n"))).toBe(
    "the connection was cut without a reply",
  );
  expect(await troubleWith((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"), "https")).toBe(
    "the server does not speak TLS, or no version that this machine accepts",
  );
});

it("unanswered explains an unknown host name", async () => {
  const failure = await exchange(new URL("http://unknown.invalid/"), {}).catch((error: unknown) => error);
  // Without a network the resolver does not respond.
  expect(unanswered("mount", failure).detail).toMatch(
    /^(?:this name is not in the DNS|the DNS does not respond)$/,
  );
});

it.each([
  ["CERT_HAS_EXPIRED", "its certificate has expired"],
  ["CERT_NOT_YET_VALID", "its certificate is not valid yet"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "its certificate is for another name"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "the server does not send the intermediate certificates"],
  ["EODD", "the connection failed: odd"],
])("unanswered explains %s", (code, detail) => {
  const failure = Object.assign(new Error("odd"), { code });
  const [attempt] = [new AggregateError([failure])];
  expect(unanswered("mount", failure).detail).toContain(detail);
  if (code !== "EODD") expect(unanswered("mount", attempt)).toEqual(unanswered("mount", failure));
});
