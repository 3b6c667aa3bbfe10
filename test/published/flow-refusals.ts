import { deepStrictEqual as equal, match, ok } from "node:assert";
import type { Walk } from "./flow.ts";
import { json, mediaType } from "./flow-checks.ts";
import type { Reply } from "./http-client.ts";
import { MULTIPART, multipart } from "./multipart.ts";

const UNKNOWN_ID = "AAAAAAAAAAAAAAAAAAAAAA";
/** Over the 25 MiB that a mount accepts by default. */
const TOO_LONG = 30_000_000;

/** An error of the service, as RFC 9457 has it. */
function problem(reply: Reply, expected: number): void {
  equal([reply.status, mediaType(reply)], [expected, "application/problem+json"]);
  equal(JSON.parse(reply.body.toString()).status, expected);
}

export async function refusalChecks({ base, check, send, create, api, part }: Walk): Promise<void> {
  await check("another method answers 405 with Allow", async () => {
    const refused = await send(api("png"), { method: "PUT" });
    problem(refused, 405);
    match(String(refused.headers.allow), /GET.*HEAD/);
  });
  await check("OPTIONS answers 204 with Allow", async () => {
    const { status, headers } = await send(api("json"), { method: "OPTIONS" });
    equal(status, 204);
    match(String(headers.allow), /PATCH/);
  });
  await check("an upload whose bytes are not of its type answers 415", async () =>
    problem(await create({ ...part, bytes: Buffer.from("no picture") }), 415),
  );
  await check("a multipart body that ends early answers 400", async () => {
    const body = multipart(part).subarray(0, -20);
    const headers = { "Content-Type": MULTIPART };
    problem(await send(`${base}/api/images.json`, { method: "POST", headers, body }), 400);
  });
  await check("an upload of 30 MB answers 413", async () => {
    const bytes = Buffer.alloc(TOO_LONG);
    part.bytes.copy(bytes);
    problem(await create({ ...part, bytes }), 413);
  });
  await check("an upload of 30 MB without Content-Length answers 413", async () => {
    const bytes = Buffer.alloc(TOO_LONG);
    part.bytes.copy(bytes);
    problem(await create({ ...part, bytes }, "json", true), 413);
  });
  await check(
    "the mount still serves after these refusals, also an upload without Content-Length",
    async () => {
      json(await create(part, "json", true), 201, 202);
    },
  );
  await check("an unknown image of the API answers 404", async () =>
    problem(await send(`${base}/api/images/${UNKNOWN_ID}.png`), 404),
  );
  await check("an unknown address below the mount answers the host's 404", async () => {
    const replies = [await send(`${base}/${UNKNOWN_ID}`), await send(`${base}/unknown`)];
    equal(
      replies.map(({ status }) => status),
      [404, 404],
    );
  });
}

export async function removalChecks({ check, send, api, image }: Walk): Promise<void> {
  await check("DELETE with the PIN answers 204", async () => {
    const headers = { "X-Service-Image-Pin": image.pin };
    const { status, body } = await send(api("json"), { method: "DELETE", headers });
    equal([status, body.length], [204, 0]);
  });
  await check("a deleted image answers 410 at each of its addresses", async () => {
    ok(image.url !== "");
    for (const url of [api("json"), api("png"), `${api("webp")}?resize=100x100`, image.url])
      equal((await send(url, { headers: { Accept: "*/*" } })).status, 410, url);
  });
}
