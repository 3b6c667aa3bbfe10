import * as core from "@outrigger/core";
import * as stores from "@outrigger/core/stores";
import { describe, expect, test } from "vitest";
import { CALLS, documented, refusal, refusedOptions, renderer, SECRET } from "../support/every-factory.ts";

const WRONG = Symbol("wrong");
const factories = await documented();

describe("every function that takes options", () => {
  test("every exported function that takes options has a call in this test", () => {
    expect(factories.length).toBeGreaterThan(30);
    expect(factories.map(({ name }) => name).sort()).toEqual(Object.keys(CALLS).sort());
  });

  test("every function refuses a misspelt option by its name", async () => {
    for (const { name, options } of factories) {
      expect(options.length, name).toBeGreaterThan(0);
      for (const option of options) {
        const middle = Math.floor(option.length / 2);
        const misspelt = `${option.slice(0, middle)}q${option.slice(middle + 1)}`;
        const message = await refusedOptions(name, { [misspelt]: 1 });
        if (name === "createServer") expect(message).toContain(`${misspelt}: unknown key`);
        else expect(message).toBe(`${misspelt} is no option of ${name}: did you mean ${option}?`);
      }
    }
  });

  test("every function refuses an option of a wrong type by its name", async () => {
    for (const { name, options } of factories) {
      for (const option of options) {
        const message = await refusedOptions(name, { [option]: WRONG });
        expect(message, name).toMatch(new RegExp(`(?:^|\\W)${option}:? must `));
      }
    }
  });

  test("every function refuses a value that is not an object of options", async () => {
    for (const { name } of factories) {
      const [call] = CALLS[name] ?? [];
      for (const options of ["./data", 5, null, [], () => ({})]) {
        const error = await refusal(() => call?.(options as never)); // As above.
        expect(error, name).toMatchObject({
          message: expect.stringContaining(
            name === "createServer" ? "configuration" : `${name} takes an object`,
          ),
        });
      }
    }
  });
});

test("an option of undefined counts as absent, also in nested tables", async () => {
  const none = { rateLimits: { reads: undefined }, cors: undefined, secret: SECRET, pages: undefined };
  const service = core.createImages({ storage: core.createMemoryBlobStore(), renderer, ...none } as never);
  await service.ready();
  expect(() => core.createMemoryBlobStore({ authorise: undefined } as never)).not.toThrow();
});

test("the types of options and of checked options follow their rules", () => {
  const table = {
    /** A text. */
    a: stores.rules.required(stores.rules.text("a")),
    b: stores.rules.preset(3, stores.rules.whole(0)),
    c: stores.rules.oneOf("x", "y"),
  };
  type Options = stores.rules.Options<typeof table>;
  const least: Options = { a: "x" };
  const all: Options = { a: "x", b: undefined, c: "y" };
  // @ts-expect-error a is required
  const fewer: Options = { b: 1 };
  // @ts-expect-error b is a number
  const other: Options = { a: "x", b: "1" };
  // @ts-expect-error d is no option
  const more: Options = { a: "x", d: 1 };
  expect([all, fewer, other, more]).toHaveLength(4);
  const { a, b, c } = stores.checkOptions("example", least, table);
  const sum: number = b + a.length;
  const choice: "x" | "y" | undefined = c;
  // @ts-expect-error a default must fit its rule
  expect(() => stores.rules.preset("3", stores.rules.whole(0))).not.toThrow();
  expect([sum, choice]).toEqual([4, undefined]);
});
