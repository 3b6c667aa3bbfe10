import { expect, test } from "vitest";
import { readPage } from "./read-page.ts";

test.each([
  ["nested elements", "<div>"],
  ["signs", "@"],
  ["words for the sign", "(at)"],
  ["hosts", "acme.example "],
  ["addresses in nested elements", "<div>ada@acme.example"],
  ["addresses beside telephone numbers", "<a href=tel:+49301></a><p>ada@acme.example"],
  ["declarations", "<meta name=robots content=all>"],
  ["comments of styles that do not end", "<style>{}/*</style>"],
  ["links below a long base", `<base href="/${"a".repeat(100_000)}/">${"<a href=b>".repeat(190_000)}`],
  ["attributes", `<div ${Array.from({ length: 20_000 }, (_, index) => `data-${index}=x`).join(" ")}>`],
])("a page of %s is read in time proportional to its length", (_, part) => {
  const html = part.repeat(Math.ceil(2_000_000 / part.length));
  const before = process.cpuUsage();
  const url = new URL("https://acme.example/");
  const { contacts } = readPage(html, { url, domain: "acme.example" });
  expect(contacts.length).toBeLessThan(2);
  const { user, system } = process.cpuUsage(before);
  // Quadratic time would take minutes. CPU time, because the machine may be busy.
  expect((user + system) / 1000).toBeLessThan(40_000);
});
