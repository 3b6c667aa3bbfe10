import { type Answer, ask, bytesUrl, recordUrl, sha256 } from "./image-client.ts";

/** The fields that its owner may set, here always set together. */
export interface Version {
  name: string;
  /** ISO 8601. */
  expiresAt: string;
}

/** The expected state of an image. */
export interface Expected {
  id: string;
  /** SHA-256 of its possible bytes, hex; one of them is stored. */
  contents: readonly string[];
  /** One of these versions is in force; `null`: the version is unknown. */
  versions: readonly Version[] | null;
  /** The states that it may be in. */
  states: readonly ImageState[];
}

/** `absent`: it was never acknowledged. `gone`: it was deleted, or has expired. */
export type ImageState = "alive" | "gone" | "absent";

const STATE_OF: Record<number, ImageState> = { 200: "alive", 410: "gone", 404: "absent" };

export interface Finding {
  state: ImageState | null;
  version: Version | null;
  /** Violations; empty if there are none. */
  violations: string[];
}

/** Reads an image by both its addresses and reports inconsistencies. */
export async function examine(base: string, expected: Expected): Promise<Finding> {
  const record = await ask(recordUrl(base, expected.id));
  const bytes = await ask(bytesUrl(base, expected.id));
  if (record === null || bytes === null) {
    return { state: null, version: null, violations: [`${expected.id}: a read was cut`] };
  }
  const violations: string[] = [];
  const state = STATE_OF[record.status] ?? null;
  if (bytes.status !== record.status) {
    violations.push(`half: the record answers ${record.status}, the bytes ${bytes.status}`);
  }
  if (state === null || !expected.states.includes(state)) {
    violations.push(`answers ${record.status} where it must be ${expected.states.join(" or ")}`);
  }
  violations.push(...wrongBytes(bytes, expected.contents));
  const version = record.status === 200 ? versionIn(record) : null;
  if (version !== null && expected.versions !== null && !expected.versions.some(isSame(version))) {
    violations.push(`a version that no client made: ${JSON.stringify(version)}`);
  }
  return { state, version, violations: violations.map((text) => `${expected.id}: ${text}`) };
}

/** The fault in a reply to a read of bytes; refusals have none. */
export function wrongBytes({ status, headers, body }: Answer, contents: readonly string[]): string[] {
  if (status !== 200) return [];
  const length = headers.get("content-length");
  if (Number(length) !== body.length) return [`${body.length} bytes where Content-Length says ${length}`];
  return contents.includes(sha256(body)) ? [] : ["bytes that no client uploaded"];
}

function versionIn({ body }: Answer): Version {
  const { name, expiresAt } = JSON.parse(String(body)) as Version; // The protocol's record has both.
  return { name, expiresAt };
}

function isSame(version: Version): (other: Version) => boolean {
  return ({ name, expiresAt }) => version.name === name && version.expiresAt === expiresAt;
}
