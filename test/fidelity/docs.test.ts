import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { KINDS, type Kind } from "./samples/sample.ts";
import { READERS, SHARES, TAKEN_PERCENT, WITHIN_PERCENT } from "./shares.ts";

const guide = readFileSync(new URL("../../docs/formats.md", import.meta.url), "utf8");
const fidelity = guide.slice(
  guide.indexOf("## Fidelity"),
  guide.indexOf("\n## ", guide.indexOf("## Fidelity") + 1),
);

test("the table of fidelity in the guide has the readers and the shares that the tests require", () => {
  const rows = [...fidelity.matchAll(/^\| (\w+) +\| ([^|]+?) +\| +(\d+) % \|/gm)].map(
    ([, type, reader, share]) => [type, reader, Number(share)],
  );
  expect(rows).toEqual(
    (Object.keys(KINDS) as Kind[]).map((kind) => [kind.toUpperCase(), READERS[kind], SHARES[kind]]),
  );
});

test("the guide names the limits of the corpus and of a picture that counts as equal", () => {
  expect(fidelity).toContain(`${TAKEN_PERCENT} %`);
  expect(fidelity).toContain(`${WITHIN_PERCENT} %`);
});
