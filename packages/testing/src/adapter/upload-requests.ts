import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import type { UploadLimits } from "@outrigger/core";
import { type ClientReply, jsonBody } from "./http-client.ts";
import { filePart, MULTIPART_TYPE, multipart, pseudoRandomBytes } from "./multipart.ts";
import { type AdapterHostOptions, type MountedHost, type Scope, withDirectory, withHost } from "./scope.ts";
import { sha256, UPLOAD_LIMITS, type UploadLog, type UploadReport, uploadService } from "./services.ts";

export const KIB = 1024;
export const MIB = 1024 * KIB;
export const HEADERS = { "Content-Type": MULTIPART_TYPE };
/** Content of a file; nothing in the suite decodes it. */
export const PNG = pseudoRandomBytes(200 * KIB);

/** A body whose only part is a file. */
export function oneFile(content: string | Buffer = PNG): Buffer {
  return multipart([filePart("imagedata", "a.png", "image/png", content)]);
}

export interface UploadHost extends MountedHost {
  log: UploadLog;
  spoolDirectory: string;
}

/** Mounts a service that receives uploads into an empty directory, which must be empty again at the end. */
export function withUploads(
  scope: Scope,
  limits: Partial<UploadLimits>,
  body: (host: UploadHost) => Promise<void>,
  options: Pick<AdapterHostOptions, "parsing"> = {},
): Promise<void> {
  return withDirectory(async (spoolDirectory) => {
    const service = uploadService({ ...UPLOAD_LIMITS, spoolDirectory, ...limits });
    const run = async (host: MountedHost) => {
      await body({ ...host, log: service.log, spoolDirectory });
      assert.deepEqual(await readdir(spoolDirectory), []);
    };
    await withHost(scope, service, run, options);
  });
}

/** Checks the reply to an upload, and returns its report. */
export function checkReport(reply: ClientReply, content: Buffer): UploadReport {
  assert.equal(reply.status, 200, reply.body.toString());
  const report = jsonBody<UploadReport>(reply);
  const head = content.subarray(0, 64 * KIB);
  assert.equal(report.size, content.length, JSON.stringify(report));
  assert.equal(report.sha256, sha256(content));
  assert.equal(report.diskSha256, sha256(content));
  assert.equal(report.headLength, head.length);
  assert.equal(report.headSha256, sha256(head));
  return report;
}

export function uploadHead(mountPath: string, length: number, more = ""): string {
  return `POST ${mountPath}/ HTTP/1.1\r\nHost: a.example\r\nContent-Type: ${MULTIPART_TYPE}\r\nContent-Length: ${length}\r\n${more}\r\n`;
}

export function writeChunk(socket: { write(data: string | Buffer): unknown }, bytes: Buffer): void {
  socket.write(`${bytes.length.toString(16)}\r\n`);
  socket.write(bytes);
  socket.write("\r\n");
}
