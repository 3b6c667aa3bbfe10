import { describe, expect, it } from "vitest";
import { parseMediaType } from "./incoming.ts";

describe("parseMediaType", () => {
  it("parses type and parameters, and lower-cases type and parameter names", () => {
    const type = parseMediaType('Multipart/Form-Data ; Boundary=aB ;charset="utf-8"; boundary=second');
    expect(type?.essence).toBe("multipart/form-data");
    expect([...(type?.parameters ?? [])]).toEqual([
      ["boundary", "aB"],
      ["charset", "utf-8"],
    ]);
  });

  it("parses quoted values with escapes and separators", () => {
    expect(parseMediaType('a/b; c="x;y=\\"z\\\\"')?.parameters.get("c")).toBe('x;y="z\\');
    expect(parseMediaType('a/b; c=""')?.parameters.get("c")).toBe("");
  });

  it("tolerates empty parameters", () => {
    expect(parseMediaType("a/b;")?.essence).toBe("a/b");
    expect(parseMediaType("a/b; ;c=d")?.parameters.get("c")).toBe("d");
  });

  it("returns null without a header and an empty essence for a malformed one", () => {
    expect(parseMediaType(undefined)).toBeNull();
    for (const header of [
      "",
      "json",
      "a/",
      "/b",
      "a b/c",
      "a/b; c",
      "a/b; c=d e",
      'a/b; c="d',
      "a/b; =d",
      "a/b; c=,",
    ]) {
      expect(parseMediaType(header)?.essence, header).toBe("");
    }
  });

  it("takes time proportional to the length of the header", () => {
    const began = process.cpuUsage();
    parseMediaType(`a/b${"; ".repeat(800_000)}`);
    parseMediaType(`a/b; c="${"\\\\".repeat(800_000)}`);
    parseMediaType(`a/b${"; c=d".repeat(300_000)};;;e f`);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(20_000);
  });
});
