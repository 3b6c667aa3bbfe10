import { secretBytes } from "@outrigger/core/stores";

/** A secret as text that any reader of secrets decodes to these bytes. */
export function secretText(bytes: Buffer): string {
  return `base64:${bytes.toString("base64")}`;
}

/** The bytes of each secret in the key `secret`, which has been validated. */
export function secretsOf(secret: string | readonly string[]): Buffer[] {
  return [secret].flat().flatMap((text) => secretBytes(text) ?? []);
}
