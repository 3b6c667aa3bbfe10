import { InvalidArgumentError } from "commander";
import { expect, it } from "vitest";
import { parseMapping } from "../../../cli/option-values.ts";
import { formatOf, mappingOf } from "./import-contacts.ts";

it("--map accepts field names in camelCase and snake_case, and columns with commas", () => {
  const map = parseMapping("address=E-Mail,first_name=Name, given,position= Role = now");
  const mapping = { address: "E-Mail", firstName: "Name, given", position: " Role = now" };
  expect(mappingOf(map)).toEqual(mapping);
  expect(parseMapping("networkA=n", { address: "a" })).toEqual({ address: "a", networkA: "n" });
});

it("--map rejects a text without field=column, and an unknown field", () => {
  for (const text of ["", "address", "address=", "=Email"])
    expect(() => parseMapping(text), text).toThrow(InvalidArgumentError);
  expect(() => mappingOf({ adress: "Email" })).toThrow("--map: must be field=column");
});

it("formatOf returns the format of a suffix", () => {
  const files = ["a.csv", "a.TSV", "a.JSONL", "a.b.vcf", "-", "people.txt", "csv"];
  expect(files.map(formatOf)).toEqual(["csv", "csv", "ndjson", "vcard", undefined, undefined, undefined]);
});
