import { accountsContract } from "@outrigger/testing";
import { test } from "vitest";
import { createMemoryAccounts } from "./memory-accounts.ts";

accountsContract(test, async () => createMemoryAccounts());
