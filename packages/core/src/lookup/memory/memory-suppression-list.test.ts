import { test } from "vitest";
import { suppressionListContract } from "../../testing/suppression-list-contract.ts";
import { createMemorySuppressionList } from "./memory-suppression-list.ts";

suppressionListContract(test, async () => createMemorySuppressionList());
