import { adapterContract } from "@outrigger/testing";
import { describe, it } from "vitest";
import { partOf } from "../../../test/support/soak.ts";
import { express4, express5, harnessOf } from "../test/harness.ts";

const EXPRESS_5 = ["Express 5", harnessOf(express5)] as const;
const ALL = [["Express 4", harnessOf(express4)], EXPRESS_5] as const;

describe.each(partOf(ALL, [EXPRESS_5]))("%s adapter contract", (_name, harness) => {
  adapterContract(it, harness);
});
