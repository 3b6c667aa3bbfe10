import { InvalidArgumentError } from "commander";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../config/config-error.ts";
import { formatOf, parseMapping } from "./import-options.ts";

describe("--map", () => {
  it("accepts field names in camelCase and snake_case, and columns with commas", () => {
    expect(parseMapping("address=E-Mail,first_name=Name, given,position= Role = now")).toEqual({
      address: "E-Mail",
      firstName: "Name, given",
      position: " Role = now",
    });
    expect(parseMapping("networkA=n", { address: "a" })).toEqual({ address: "a", networkA: "n" });
  });

  it.each(["", "adress=Email", "address", "address=", "=Email"])("rejects %j", (text) => {
    expect(() => parseMapping(text)).toThrow(InvalidArgumentError);
  });
});

describe("formatOf", () => {
  it("returns the format as typed, or from the file name", () => {
    expect(formatOf("a.csv", undefined)).toBe("csv");
    expect(formatOf("a.JSONL", undefined)).toBe("ndjson");
    expect(formatOf("a.csv", "ndjson")).toBe("ndjson");
    expect(() => formatOf("-", undefined)).toThrow(ConfigError);
    expect(() => formatOf("people.txt", undefined)).toThrow("--format: is required for people.txt");
  });
});
