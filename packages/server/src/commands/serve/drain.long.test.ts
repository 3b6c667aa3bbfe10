import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jpeg, serve, temporaryDirectory, type Uploaded } from "../../../test/outrigger-process.ts";

const BOUNDARY = "------drain";

/** An upload in progress: its headers and half of the picture have been sent. */
async function beginUpload(url: string, picture: Buffer): Promise<{ req: ClientRequest; rest: Buffer }> {
  const body = Buffer.concat([
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="imagedata"; filename="slow.jpg"\r\n` +
        "Content-Type: image/jpeg\r\n\r\n",
    ),
    picture,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
  const req = request(`${url}/api/images.json`, {
    method: "POST",
    headers: {
      "User-Agent": "test/1.0",
      "Content-Type": `multipart/form-data; boundary=${BOUNDARY}`,
      "Content-Length": body.length,
      Expect: "100-continue",
    },
  });
  req.flushHeaders();
  // The log line shows that the server has received the request.
  await once(req, "continue");
  const half = body.length >> 1;
  await new Promise<void>((resolve) => req.write(body.subarray(0, half), () => resolve()));
  return { req, rest: body.subarray(half) };
}

describe("outrigger serve on SIGTERM", () => {
  it("finishes an upload in progress, refuses new connections, exits with 0, and keeps the image", async () => {
    const cwd = await temporaryDirectory();
    const picture = await jpeg();
    const server = serve(cwd);
    const url = await server.url;
    const { req, rest } = await beginUpload(url, picture);
    server.child.kill("SIGTERM");
    await server.logged("draining");
    await expect(fetch(`${url}/healthz`)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });

    req.end(rest);
    const [response]: IncomingMessage[] = await once(req, "response");
    expect(response?.statusCode).toBe(201);
    expect(response?.headers.connection).toBe("close");
    const image: Uploaded = JSON.parse(Buffer.concat((await response?.toArray()) ?? []).toString());
    expect(await server.exit).toBe(0);

    const again = await serve(cwd).url;
    const original = await fetch(`${again}/api/images/${image.id}.jpg`);
    expect(Buffer.from(await original.arrayBuffer()).equals(picture)).toBe(true);
    const removed = await fetch(`${again}/api/images/${image.id}.json?pin=${image.pin}`, {
      method: "DELETE",
    });
    expect(removed.status).toBe(204);
  });

  it("cuts an unfinished upload within shutdownMs, and still exits with 0", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify({ shutdownMs: 3000 }));
    const server = serve(cwd);
    const { req } = await beginUpload(await server.url, await jpeg());
    const cut = once(req, "error");
    server.child.kill("SIGTERM");
    expect(await server.exit).toBe(0);
    expect((await cut)[0]).toMatchObject({ code: "ECONNRESET" });
    expect(server.output.stderr).toContain(
      '"connections":1,"msg":"cut connections that had not ended in time"',
    );
  });

  it("exits at once with 130 on a second signal", async () => {
    const server = serve(await temporaryDirectory());
    const { req } = await beginUpload(await server.url, await jpeg());
    req.on("error", () => {});
    server.child.kill("SIGINT");
    await server.logged("draining");
    server.child.kill("SIGINT");
    expect(await server.exit).toBe(130);
  });
});
