import { adapterContract } from "@outrigger/testing";
import { describe, it } from "vitest";
import { partOf } from "../../../test/support/soak.ts";
import { harnessOf, Koa2, Koa3, WAYS } from "../test/harness.ts";

const KOA_3_WITH_PREFIX = ["Koa 3 with prefix", harnessOf(Koa3, WAYS.prefix)] as const;
const ALL = [
  ["Koa 2 with prefix", harnessOf(Koa2, WAYS.prefix)],
  ["Koa 2 with koa-mount", harnessOf(Koa2, WAYS["koa-mount"])],
  KOA_3_WITH_PREFIX,
  ["Koa 3 with koa-mount", harnessOf(Koa3, WAYS["koa-mount"])],
] as const;

describe.each(partOf(ALL, [KOA_3_WITH_PREFIX]))("%s", (_name, harness) => adapterContract(it, harness));
