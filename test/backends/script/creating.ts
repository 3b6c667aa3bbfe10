import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { openUpload } from "../../support/open-upload.ts";
import { postWithHeaders, RESPOND_ASYNC } from "../../support/post-with-headers.ts";
import { addressOf, type Created } from "../../support/service.ts";
import { fetchBytes, fetchJson } from "../fetch-bytes.ts";
import type { Stage } from "./stage.ts";

/** Time for work that continues after a reply, on a busy machine. */
const OFTEN = { interval: 20 };
const MIB = 2 ** 20;

/** Uploads that are repeated, asynchronous, refused, or aborted. */
export function describeCreating(stage: Stage): void {
  /** Earlier files may disappear meanwhile: some stores delete old bytes with a delay. */
  async function expectNothingNew(before: string[]): Promise<void> {
    const known = new Set(before);
    const added = async () => (await stage.deployment.names()).filter((name) => !known.has(name));
    await expect.poll(added, OFTEN).toEqual([]);
  }

  test("an upload repeated with its Idempotency-Key makes one image", async () => {
    const { one, other } = stage.deployment;
    const { small, large } = stage.material;
    const headers = { "Idempotency-Key": "the-same-key" };
    const first = (await (await postWithHeaders(one, small, "image/png", headers)).json()) as Created;
    const { id, pin, createdAt } = first;
    const before = await stage.deployment.names();
    const again = await postWithHeaders(other, small, "image/png", headers);
    expect([again.status, await again.json()]).toMatchObject([201, { id, pin, createdAt }]);
    const another = await postWithHeaders(other, large, "image/png", headers);
    expect(another.status).toBe(409);
    await expectNothingNew(before);
  });

  test("an asynchronous upload is ready in the end, at every service", async () => {
    const { one, other } = stage.deployment;
    const { large } = stage.material;
    const answer = await postWithHeaders(one, large, "image/png", RESPOND_ASYNC);
    expect([answer.status, answer.headers.get("preference-applied")]).toEqual([202, "respond-async"]);
    const { id, status, width } = (await answer.json()) as Created;
    expect({ status, width }).toEqual({ status: "processing", width: null });
    await expect.poll(async () => (await fetchBytes(addressOf(other, id, "png"))).status, OFTEN).toBe(200);
    expect((await fetchBytes(addressOf(other, id, "png"))).bytes.equals(large)).toBe(true);
    expect((await fetchJson(addressOf(one, id, "json"))).body).toMatchObject({
      ...{ status: "ready", width: 1200, height: 900, size: large.length },
    });
    await expect
      .poll(() => stage.deployment.keys(`${id}/`), OFTEN)
      .toEqual([`${id}/original`, `${id}/record`]);
  });
  test("an aborted upload leaves no files", async () => {
    const { one } = stage.deployment;
    const { large } = stage.material;
    const before = await stage.deployment.names();
    const head =
      '--x\r\nContent-Disposition: form-data; name="imagedata"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n';
    // In its first piece, after several pieces, and with only the end of the form missing.
    for (const sent of [70_000, 2 * MIB, large.length]) {
      const type = "multipart/form-data; boundary=x";
      const arrival = once(one.server, "request");
      const { outgoing, answered } = openUpload(one, {
        "Content-Type": type,
        "Content-Length": `${head.length + large.length + 9}`,
      });
      // The connection is cut before the reply.
      answered.catch(() => {});
      outgoing.write(head);
      const [request] = (await arrival) as [IncomingMessage];
      outgoing.write(large.subarray(0, sent));
      await expect.poll(() => request.socket.bytesRead, OFTEN).toBeGreaterThan(sent);
      // By default `once` rejects with the request's error when the connection is cut.
      const noticed = new Promise((resolve) => request.once("close", resolve));
      request.on("error", () => {});
      outgoing.destroy();
      await noticed;
    }
    await expectNothingNew(before);
  });
}
