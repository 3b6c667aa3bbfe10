import assert from "node:assert/strict";
import { MULTIPART_TYPE, pseudoRandomBytes } from "./multipart.ts";
import { sha256, type UploadReport } from "./services.ts";

export const KIB = 1024;
export const MIB = 1024 * KIB;
export const HEADERS = { "Content-Type": MULTIPART_TYPE };
/** Content of a file; nothing in the suite decodes it. */
export const PNG = pseudoRandomBytes(200 * KIB);

export function checkReport(report: UploadReport, content: Buffer): void {
  const head = content.subarray(0, 64 * KIB);
  assert.equal(report.size, content.length, JSON.stringify(report));
  assert.equal(report.sha256, sha256(content));
  assert.equal(report.diskSha256, sha256(content));
  assert.equal(report.headLength, head.length);
  assert.equal(report.headSha256, sha256(head));
}

export function uploadHead(mountPath: string, length: number, more = ""): string {
  return `POST ${mountPath}/ HTTP/1.1\r\nHost: a.example\r\nContent-Type: ${MULTIPART_TYPE}\r\nContent-Length: ${length}\r\n${more}\r\n`;
}

export function writeChunk(socket: { write(data: string | Buffer): unknown }, bytes: Buffer): void {
  socket.write(`${bytes.length.toString(16)}\r\n`);
  socket.write(bytes);
  socket.write("\r\n");
}
