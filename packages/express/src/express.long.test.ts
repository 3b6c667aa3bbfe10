import { adapterContract } from "@outrigger/testing";
import { describe, it } from "vitest";
import { express4, harnessOf } from "../test/harness.ts";

describe("Express 4 adapter contract", () => adapterContract(it, harnessOf(express4)));
