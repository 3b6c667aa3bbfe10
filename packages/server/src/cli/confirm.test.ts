import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { confirm } from "./confirm.ts";

async function answer(text: string) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.end(text);
  const isConfirmed = await confirm("Sure?", input, output);
  return { isConfirmed, shown: String(output.read()) };
}

it.each(["y\n", "Y\n", "yes\n", " YES \r\n"])("confirm takes %j for a yes", async (text) => {
  expect(await answer(text)).toEqual({ isConfirmed: true, shown: "Sure? [y/N] " });
});

it.each(["", "y", "\n", "n\n", "no\n", "yesterday\n", "\nyes\n"])(
  "confirm takes %j for a no",
  async (text) => {
    expect(await answer(text)).toMatchObject({ isConfirmed: false });
  },
);
