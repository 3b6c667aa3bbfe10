import type { ImageStorage } from "@outrigger/core";

/** A store that any number of processes can open. */
export type StoreDescription =
  | { kind: "file"; directory: string }
  | { kind: "postgres"; url: string; prefix: string }
  | { kind: "redis"; url: string | string[]; prefix: string }
  | {
      kind: "s3";
      endpoint: string;
      bucket: string;
      prefix: string;
      credentials: { accessKeyId: string; secretAccessKey: string };
    };

/** One store for everything, or records apart from pictures. Survives JSON, so that a process can be told of it. */
export interface StorageDescription {
  records: StoreDescription;
  /** @default the store of the records */
  pictures?: StoreDescription;
}

/** Opens the stores, for one process: those of the description are one store where it names one. */
export function openStorage(description: StorageDescription): ImageStorage;
