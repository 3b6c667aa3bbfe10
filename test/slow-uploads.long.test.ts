import { once } from "node:events";
import { request } from "node:http";
import { expect, test } from "vitest";
import { pngPhoto } from "./support/pictures.ts";
import { startSite } from "./support/service.ts";

/** More than are read at once. */
const SLOW = 12;

/** An upload from a client address of its own. It sends the first bytes at once and the others on request. */
function slowUpload(base: string, localAddress: string, bytes: Buffer) {
  const head =
    '--x\r\nContent-Disposition: form-data; name="imagedata"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n';
  const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from("\r\n--x--\r\n")]);
  const outgoing = request(`${base}/api/images.json`, {
    method: "POST",
    headers: {
      "User-Agent": "OutriggerTest/1.0",
      "Content-Type": "multipart/form-data; boundary=x",
      "Content-Length": body.length,
    },
    localAddress,
    agent: false,
  });
  const status = once(outgoing, "response").then(([response]) => {
    response.resume();
    return response.statusCode as number;
  });
  const half = Math.floor(body.length / 2);
  outgoing.write(body.subarray(0, half));
  return { status, finish: () => outgoing.end(body.subarray(half)) };
}

test("slow uploads of one client do not block other clients, and all of them complete", async () => {
  const site = await startSite({ pages: false });
  try {
    const bytes = await pngPhoto(60, 40);
    const slow = Array.from({ length: SLOW }, () => slowUpload(site.base, "127.0.0.66", bytes));
    for (const address of ["127.0.0.2", "127.0.0.66"]) {
      const other = slowUpload(site.base, address, bytes);
      other.finish();
      expect(await other.status).toBe(201);
    }
    for (const each of slow) each.finish();
    expect(await Promise.all(slow.map(({ status }) => status))).toEqual(slow.map(() => 201));
  } finally {
    await site.close();
  }
});
