import { test } from "vitest";
import { contactSourceContract } from "../../testing/contact-source-contract.ts";
import { createMemoryContactSource } from "./memory-contact-source.ts";

contactSourceContract(test, async () => createMemoryContactSource(), {
  load: (source, data) => source.load(data),
});
