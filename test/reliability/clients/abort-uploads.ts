import { setTimeout as delay } from "node:timers/promises";
import { connectTo, fetchReply } from "../../../packages/testing/src/adapter/http-client.ts";
import {
  fieldPart,
  filePart,
  MULTIPART_TYPE,
  multipart,
} from "../../../packages/testing/src/adapter/multipart.ts";
import { inParallel, leave, WAYS } from "./leave.ts";
import type { Target } from "./target.ts";

const AT_ONCE = 16;

/** A request that creates an image, as bytes. */
interface UploadBytes {
  head: Buffer;
  body: Buffer;
}

/** Positions at which an upload aborts: the bytes sent by then. */
const POSITIONS: Readonly<Record<string, (upload: UploadBytes) => number>> = {
  "before the headers are complete": ({ head }) => head.length - 20,
  "behind the headers": ({ head }) => head.length,
  "in the boundary line": ({ head }) => head.length + 12,
  "in the header of the file's part": ({ head, body }) => head.length + body.indexOf("filename=") + 4,
  "early in the file": (upload) => fileStart(upload) + 20_000,
  "in the middle of the file": ({ head, body }) => head.length + Math.ceil(body.length * 0.7),
  "before the last byte of the file": (upload) => closingStart(upload) - 1,
  "before the closing boundary": closingStart,
};
const CUTS = Object.values(POSITIONS);

/** Aborts this many uploads of `picture`, a PNG, cycling through all positions and ways. */
export async function abortUploads(target: Target, count: number, picture: Buffer): Promise<void> {
  const upload = uploadOf(target.base, picture);
  const bytes = Buffer.concat([upload.head, upload.body]);
  await inParallel(count, AT_ONCE, async (index) => {
    const cutAt = CUTS[index % CUTS.length] ?? (() => 0);
    const way = WAYS[Math.floor(index / CUTS.length) % WAYS.length] ?? WAYS[0];
    const socket = await connectTo(target.base);
    await new Promise((resolve) => socket.write(bytes.subarray(0, cutAt(upload)), resolve));
    // By then the service may or may not have received everything.
    await delay(index % 5 === 0 ? 0 : (index * 7) % 40);
    await leave(socket, way);
  });
}

/** Uploads `picture` as a good client does. @returns the status. */
export async function uploadWhole(target: Target, picture: Buffer): Promise<{ status: number; url: string }> {
  const { body } = uploadOf(target.base, picture);
  const headers = { "Content-Type": MULTIPART_TYPE, "User-Agent": "test/1.0" };
  const reply = await fetchReply(`${target.base}/api/images.json`, { method: "POST", headers, body });
  return { status: reply.status, url: String(reply.headers.location) };
}

function uploadOf(base: string, picture: Buffer): UploadBytes {
  const { host, pathname } = new URL(`${base}/api/images.json`);
  const body = multipart([
    fieldPart("name", "broken off"),
    filePart("imagedata", "a.png", "image/png", picture),
  ]);
  const lines = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    "User-Agent: test/1.0",
    `Content-Type: ${MULTIPART_TYPE}`,
    `Content-Length: ${body.length}`,
  ];
  return { head: Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body };
}

function fileStart({ head, body }: UploadBytes): number {
  return head.length + body.indexOf("\r\n\r\n", body.indexOf("filename=")) + 4;
}

function closingStart({ head, body }: UploadBytes): number {
  return head.length + body.lastIndexOf("\r\n--");
}
