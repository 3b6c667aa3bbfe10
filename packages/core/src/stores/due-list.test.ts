import { dueIndexContract } from "@outrigger/testing";
import { test } from "vitest";
import { createMemoryBlobStore } from "./memory/memory-blob-store.ts";

dueIndexContract(test, async () => createMemoryBlobStore());
