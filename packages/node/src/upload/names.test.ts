import { describe, expect, it } from "vitest";
import { decodeFormName, repairLatin1, Utf8Witness } from "./names.ts";

describe("Utf8Witness", () => {
  const marked = Buffer.from("name with \uFFFD in it");
  const broken = Buffer.from("name with \xff in it", "latin1");

  it("accepts text whose bytes contain the replacement character, for any chunking", () => {
    for (const step of [1, 2, 3, 100]) {
      const witness = new Utf8Witness(64);
      witness.remember(Buffer.alloc(1000, "x"));
      for (let start = 0; start < marked.length; start += step) {
        witness.remember(marked.subarray(start, start + step));
      }
      expect(() => witness.check(marked.toString(), "It")).not.toThrow();
    }
  });

  it("rejects text with a replacement character that its bytes do not contain", () => {
    for (const step of [1, 7, 100]) {
      const witness = new Utf8Witness(64);
      for (let start = 0; start < broken.length; start += step) {
        witness.remember(broken.subarray(start, start + step));
      }
      expect(() => witness.check(broken.toString(), "It")).toThrow(
        expect.objectContaining({ code: "bad_request", message: "It is not valid UTF-8" }),
      );
    }
  });

  it("keeps the whole newest chunk, however long it is", () => {
    const witness = new Utf8Witness(64);
    witness.remember(Buffer.concat([marked, Buffer.alloc(1000, "x")]));
    expect(() => witness.check(marked.toString(), "It")).not.toThrow();
  });

  it("accepts the percent-encoded replacement character", () => {
    const witness = new Utf8Witness(64);
    witness.remember(Buffer.from("filename*=utf-8''a%ef%bf%bd.png"));
    expect(() => witness.check("a\uFFFD.png", "It")).not.toThrow();
  });

  it("drops bytes that are older than its window", () => {
    const witness = new Utf8Witness(64);
    witness.remember(marked);
    witness.remember(Buffer.alloc(64, "x"));
    witness.remember(Buffer.from("y"));
    expect(() => witness.check("\uFFFD", "It")).toThrow(/not valid UTF-8/);
  });

  it("accepts any text without a replacement character", () => {
    expect(() => new Utf8Witness(1).check("Grüße 图片", "It")).not.toThrow();
  });
});

describe("decodeFormName", () => {
  it("decodes the three escapes of HTML forms and no others", () => {
    expect(decodeFormName("a%22b%0d%0Ac%41%")).toBe('a"b\r\nc%41%');
  });
});

describe("repairLatin1", () => {
  it("repairs UTF-8 that was decoded as latin1, and returns other names unchanged", () => {
    expect(repairLatin1(Buffer.from("Grüße 图片.png").toString("latin1"))).toBe("Grüße 图片.png");
    expect(repairLatin1("plain.png")).toBe("plain.png");
    expect(repairLatin1("Grüße.png")).toBe("Grüße.png");
    expect(repairLatin1("图片.png")).toBe("图片.png");
  });
});
