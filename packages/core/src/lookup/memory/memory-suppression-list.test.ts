import { suppressionListContract } from "@outrigger/testing";
import { test } from "vitest";
import { createMemorySuppressionList } from "./memory-suppression-list.ts";

suppressionListContract(test, async () => createMemorySuppressionList());
