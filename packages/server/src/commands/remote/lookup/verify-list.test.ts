import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { showList } from "./verify-list.ts";

it("the progress of a list is a bar on a terminal, and counts from where the command continued", () => {
  const output = new PassThrough();
  let text = "";
  output.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  // The members of a terminal that the progress display uses.
  const terminal = Object.assign(output, { isTTY: true, columns: 120 }) as unknown as NodeJS.WriteStream;
  const view = showList(terminal);
  view.update({ id: "x", total: 40, done: 30, status: "running" });
  view.close();
  expect(text).toContain("75% | 30/40 addresses | 0.0/s | ");
});
