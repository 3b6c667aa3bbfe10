import { contactSourceContract } from "@outrigger/testing";
import { test } from "vitest";
import { createMemoryContactSource } from "./memory-contact-source.ts";

contactSourceContract(test, async () => createMemoryContactSource(), {
  load: (source, data) => source.load(data),
});
