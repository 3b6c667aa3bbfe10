import { createRenderer } from "@outrigger/imaging";
import { rendererContract } from "@outrigger/testing";
import { describe, test } from "vitest";

describe("Renderer contract", () => {
  rendererContract(test, () => createRenderer({ timeoutMs: 60_000 }));
});
