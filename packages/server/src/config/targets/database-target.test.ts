import { describe, expect, it } from "vitest";
import { describeDatabase, parseDatabaseUrl, resolveDatabaseUrl } from "./database-target.ts";

describe("the lookup's database", () => {
  it("is a file whose path is resolved against a directory", () => {
    expect(parseDatabaseUrl("file:./a%20b.db", "/var/lib")).toEqual({
      kind: "file",
      path: "/var/lib/a b.db",
    });
    expect(resolveDatabaseUrl("file:./a%20b.db", "/var/lib")).toBe("file:///var/lib/a%20b.db");
    expect(describeDatabase(parseDatabaseUrl("file:///var/lib/x.db"))).toBe("file:/var/lib/x.db");
  });

  it("is PostgreSQL, described without user, password and parameters", () => {
    const url = "postgresql://ann:hush@db.example.com:5433/lookup?sslpassword=hush";
    expect(parseDatabaseUrl(url)).toEqual({ kind: "postgres", url });
    expect(resolveDatabaseUrl(url, "/var/lib")).toBe(url);
    expect(describeDatabase(parseDatabaseUrl(url))).toBe("postgres://db.example.com:5433/lookup");
  });

  it.each([
    "",
    "lookup.db",
    "mysql://h/x",
    "postgres:x",
    "postgres://h",
    "postgres://h/",
    "postgres://h/x#y",
    "file:",
  ])("rejects %j", (text) => expect(() => parseDatabaseUrl(text)).toThrow(TypeError));
});
