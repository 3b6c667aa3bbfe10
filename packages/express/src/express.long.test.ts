import { adapterContract } from "@outrigger/testing";
import { describe, it } from "vitest";
import { express4, express5, harnessOf } from "../test/harness.ts";

describe("Express 4 adapter contract", () => adapterContract(it, harnessOf(express4)));
describe("Express 5 adapter contract", () => adapterContract(it, harnessOf(express5)));
