import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { findProgram } from "../src/programs.mjs";

/** @import { PostgresServer } from "../../test/support/postgres-server.ts" */

const ID_BYTES = 16;
/** Of the text of a revision, which is random. */
const REVISION_LENGTH = 16;
/** As `partOf` of packages/sql/src/blobs/blob-statements.ts; the look-ups fail if it differs. */
const PARTS = 32;
const PART_VALUES = Array.from({ length: PARTS }, (_, part) => Buffer.from([0, part]));
const CHUNK_BYTES = 1 << 20;
/** The header of COPY's binary format: signature, flags, length of the extension. */
const HEADER = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
const TRAILER = Buffer.from([0xff, 0xff]);

/**
 * Adds copies of a record, with new IDs in random order, as uploads do. COPY takes a tenth of the time of uploads.
 * @param {PostgresServer} postgres
 * @param {Record<string, unknown>} record As a store wrote it, ready and without an owner; its ID and its `expiresAt` are replaced.
 * @param {number} count
 * @param {number} firstDueMs When the first copy expires. Each further one expires a millisecond later.
 * @returns {Promise<(index: number) => string>} The IDs.
 */
export async function fillRecords(postgres, record, count, firstDueMs) {
  const random = randomBytes(count * ID_BYTES);
  const idOf = (/** @type {number} */ index) =>
    random.toString("base64url", index * ID_BYTES, (index + 1) * ID_BYTES);
  const [before = "", between = "", after = ""] = JSON.stringify({ ...record, id: "\0", expiresAt: "\u0001" })
    .replace('"\\u0001"', "\\u0000")
    .split("\\u0000");
  const size = bigint(Number(record.size));
  const createdAt = bigint(Number(record.createdAt));
  /** @param {number} index */
  function blobRow(index) {
    const id = idOf(index);
    const json = `${before}${id}${between}${firstDueMs + index}${after}`;
    const facts = [Buffer.from("ready"), size, createdAt, bigint(firstDueMs + index)];
    return [part(id), `${id}/record`, id.slice(0, REVISION_LENGTH), json, ...facts];
  }
  /** @param {number} index */
  function dueRow(index) {
    const id = idOf(index);
    return [part(id), "images", bigint(firstDueMs + index), id];
  }
  await Promise.all([
    copyInto(
      postgres,
      "images_blobs (part, key, revision, bytes, state, size, created_at, expires_at)",
      count,
      blobRow,
    ),
    copyInto(postgres, "images_due (part, list, due_ms, id)", count, dueRow),
  ]);
  return idOf;
}

/** @param {number} value */
function bigint(value) {
  const field = Buffer.alloc(8);
  field.writeBigInt64BE(BigInt(value));
  return field;
}

/** As a smallint. @param {string} id */
function part(id) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return PART_VALUES[(hash >>> 16) % PARTS] ?? Buffer.alloc(0);
}

/**
 * @param {PostgresServer} postgres
 * @param {string} table
 * @param {number} count
 * @param {(index: number) => (Buffer | string)[]} rowOf The fields of a row; strings are ASCII.
 */
async function copyInto(postgres, table, count, rowOf) {
  const psql = join(dirname(await realpath(findProgram("postgres") ?? "")), "psql");
  const args = ["-h", "127.0.0.1", "-p", String(postgres.port), "-U", "test", "-d", "postgres", "-X", "-q"];
  const command = `COPY ${table} FROM STDIN WITH (FORMAT binary)`;
  const child = spawn(psql, [...args, "-v", "ON_ERROR_STOP=1", "-c", command], {
    stdio: ["pipe", "ignore", "pipe"],
  });
  // psql closes its input when the statement fails. Its exit status tells.
  child.stdin.on("error", () => {});
  const ended = Promise.all([once(child, "close"), text(child.stderr)]);
  const chunk = Buffer.alloc(CHUNK_BYTES + 65_536);
  let at = HEADER.copy(chunk);
  for (let index = 0; index < count && child.exitCode === null; index++) {
    const fields = rowOf(index);
    at = chunk.writeInt16BE(fields.length, at);
    for (const field of fields) {
      at = chunk.writeInt32BE(field.length, at);
      at += typeof field === "string" ? chunk.write(field, at, "latin1") : field.copy(chunk, at);
    }
    if (at < CHUNK_BYTES) continue;
    if (!child.stdin.write(Buffer.from(chunk.subarray(0, at)))) {
      await Promise.race([once(child.stdin, "drain"), ended]);
    }
    at = 0;
  }
  child.stdin.end(Buffer.concat([chunk.subarray(0, at), TRAILER]));
  const [[status], said] = await ended;
  if (status !== 0) throw new Error(`COPY failed: ${said}`);
}
