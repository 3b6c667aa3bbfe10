import { test } from "vitest";
import { verificationQueueContract } from "../../testing/verification-queue-contract.ts";
import { createMemoryVerificationQueue } from "./memory-verification-queue.ts";

verificationQueueContract(test, async () => createMemoryVerificationQueue());
