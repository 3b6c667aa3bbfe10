import { describe, expect, it } from "vitest";
import { checkMountPath, stripPrefix, toOriginForm } from "./request-target.ts";

describe("toOriginForm", () => {
  it("keeps a target in origin form as it is", () => {
    for (const target of ["/", "//", "/a?b", "//evil.example/x", "/http://a.example/", "/%2e%2e/?"]) {
      expect(toOriginForm(target)).toBe(target);
    }
  });

  it("takes scheme and authority off an absolute form", () => {
    expect(toOriginForm("http://a.example")).toBe("/");
    expect(toOriginForm("HTTP://a.example:80/b?c")).toBe("/b?c");
    expect(toOriginForm("https://a.example?c=/d")).toBe("/?c=/d");
    expect(toOriginForm("http://user@a.example//b")).toBe("//b");
  });

  it("puts the slash back that a framework has taken off", () => {
    expect(toOriginForm("")).toBe("/");
    expect(toOriginForm("?a")).toBe("/?a");
    expect(toOriginForm("a/b")).toBe("/a/b");
  });

  it("is null for the asterisk", () => {
    expect(toOriginForm("*")).toBeNull();
  });
});

describe("stripPrefix", () => {
  it("takes off whole segments only", () => {
    expect(stripPrefix("/img/a?b", "/img")).toBe("/a?b");
    expect(stripPrefix("/img", "/img")).toBe("/");
    expect(stripPrefix("/img?a", "/img")).toBe("/?a");
    expect(stripPrefix("/img//a", "/img")).toBe("//a");
    expect(stripPrefix("/imgx", "/img")).toBeNull();
    expect(stripPrefix("/im", "/img")).toBeNull();
    expect(stripPrefix("/a/img", "/img")).toBeNull();
    expect(stripPrefix("/a", "")).toBe("/a");
  });
});

describe("checkMountPath", () => {
  it("drops a trailing slash and takes nothing for the root", () => {
    expect(checkMountPath("prefix", "/img/")).toBe("/img");
    expect(checkMountPath("prefix", "/a/b")).toBe("/a/b");
    for (const root of [undefined, "", "/"]) expect(checkMountPath("prefix", root)).toBe("");
  });

  it("refuses what is not a path, naming the option", () => {
    for (const path of ["img", "/a?b", "/a#b", "/*", 1, null]) {
      expect(() => checkMountPath("prefix", path)).toThrow(
        new TypeError('prefix must be a path that begins with "/", such as "/img"'),
      );
    }
  });
});
