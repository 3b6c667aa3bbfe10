import { InvalidArgumentError } from "commander";
import { expect, it } from "vitest";
import { parseMapping } from "../../../cli/option-values.ts";
import { ConfigError } from "../../../config/config-error.ts";
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

it("formatOf returns the format as typed, or from the file name", () => {
  expect(formatOf("a.csv", undefined)).toBe("csv");
  expect(formatOf("a.JSONL", undefined)).toBe("ndjson");
  expect(formatOf("a.csv", "ndjson")).toBe("ndjson");
  expect(() => formatOf("-", undefined)).toThrow(ConfigError);
  expect(() => formatOf("people.txt", undefined)).toThrow("--format: is required for people.txt");
});
