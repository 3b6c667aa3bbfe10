import { test } from "vitest";
import { dueIndexContract } from "../testing/due-index-contract.ts";
import { createMemoryBlobStore } from "./memory/memory-blob-store.ts";

dueIndexContract(test, async () => createMemoryBlobStore());
