import { describe, expect, it } from "vitest";
import { decodeFormName, repairLatin1 } from "./names.ts";

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
