import type { OriginalType } from "@outrigger/core/images";

/** A file of which something is odd. */
export interface Sample {
  /** Its type and what is special about it: `png/grey of 16 bits`. Unique. */
  name: string;
  type: OriginalType;
  bytes: Buffer;
}

/** Short names of the types. */
const KINDS = {
  png: "image/png",
  jpeg: "image/jpeg",
  gif: "image/gif",
  svg: "image/svg+xml",
  psd: "image/x-photoshop",
  pdf: "application/pdf",
} as const satisfies Record<string, OriginalType>;

export function sample(kind: keyof typeof KINDS, name: string, bytes: Buffer): Sample {
  return { name: `${kind}/${name}`, type: KINDS[kind], bytes };
}
