import { rendererContract } from "@outrigger/core/testing";
import { createRenderer } from "@outrigger/imaging";
import { describe, test } from "vitest";

describe("Renderer contract", () => {
  rendererContract(test, () => createRenderer());
});
