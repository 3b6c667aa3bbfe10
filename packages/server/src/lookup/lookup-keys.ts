import { hkdfSync } from "node:crypto";

/** What the lookup derives from one secret. Who knows one of them knows nothing of the others. */
export interface LookupKeys {
  /** By which suppressions and verdicts are kept. */
  secret: Buffer;
  /** By which what mail hosts said is kept. */
  proberSecret: string;
  /** Stands among the suppressions, to tell with which secret they were made. */
  marker: string;
  /** The API key of the demonstration: the same as long as the secret is. */
  sampleKey: string;
}

const KEY_BYTES = 20;

/** @param secret of the server, at least 32 bytes. */
export function deriveLookupKeys(secret: Buffer): LookupKeys {
  const derive = (label: string, bytes = 32) =>
    Buffer.from(hkdfSync("sha256", secret, "", `outrigger lookup: ${label}`, bytes));
  return {
    secret: derive("suppressions"),
    proberSecret: derive("mail hosts").toString("base64url"),
    marker: derive("marker").toString("base64url"),
    sampleKey: derive("sample key", KEY_BYTES).toString("hex"),
  };
}
