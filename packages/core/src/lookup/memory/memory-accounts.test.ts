import { test } from "vitest";
import { accountsContract } from "../../testing/accounts-contract.ts";
import { createMemoryAccounts } from "./memory-accounts.ts";

accountsContract(test, async () => createMemoryAccounts());
