import { adapterContract } from "@outrigger/testing";
import { describe, it } from "vitest";
import { harnessOf, Koa2, Koa3, WAYS } from "../test/harness.ts";

describe("Koa 2 with prefix", () => adapterContract(it, harnessOf(Koa2, WAYS.prefix)));
describe("Koa 2 with koa-mount", () => adapterContract(it, harnessOf(Koa2, WAYS["koa-mount"])));
describe("Koa 3 with prefix", () => adapterContract(it, harnessOf(Koa3, WAYS.prefix)));
describe("Koa 3 with koa-mount", () => adapterContract(it, harnessOf(Koa3, WAYS["koa-mount"])));
