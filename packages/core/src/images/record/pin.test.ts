import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Pins } from "./pin.ts";

const secret = "0123456789abcdef0123456789abcdef";
const id = "AAAAAAAAAAAAAAAAAAAAAA";

describe("PINs", () => {
  test("a PIN is the first 80 bits of HMAC-SHA256(secret, id) in Crockford base 32", () => {
    const pin = new Pins(secret).pinOf(id);
    expect(pin).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/);
    const bits = [...pin]
      .map((c) => "0123456789ABCDEFGHJKMNPQRSTVWXYZ".indexOf(c).toString(2).padStart(5, "0"))
      .join("");
    const bytes = bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [];
    expect(Buffer.from(bytes)).toEqual(createHmac("sha256", secret).update(id).digest().subarray(0, 10));
  });

  test("a PIN verifies for its own image only", () => {
    const pins = new Pins(secret);
    const pin = pins.pinOf(id);
    expect(pins.verify(id, pin)).toBe(true);
    expect(pins.verify("BAAAAAAAAAAAAAAAAAAAAA", pin)).toBe(false);
    const farBeyond = [...pin].map((c) => String.fromCharCode(c.charCodeAt(0) + 0x100)).join("");
    for (const wrong of ["", pin.slice(1), `${pin}0`, `${pin} `, "0".repeat(16), "é".repeat(16), farBeyond]) {
      expect(pins.verify(id, wrong)).toBe(false);
    }
  });

  test("case, hyphens and look-alike characters of a PIN do not matter", () => {
    const pins = new Pins(secret);
    const pin = pins.pinOf(id);
    expect(pins.verify(id, pin.toLowerCase())).toBe(true);
    expect(pins.verify(id, pin.replace(/(....)(?=.)/g, "$1-"))).toBe(true);
    expect(pins.verify(id, pin.replaceAll("0", "o").replaceAll("1", "l"))).toBe(true);
  });

  test("after a rotation old PINs stay valid, and new ones come from the first secret", () => {
    const old = new Pins(secret).pinOf(id);
    const fresh = "f".repeat(32);
    const pins = new Pins([fresh, secret]);
    expect(pins.pinOf(id)).toBe(new Pins(fresh).pinOf(id));
    expect(pins.verify(id, old)).toBe(true);
    expect(new Pins(fresh).verify(id, old)).toBe(false);
  });

  test("Pins throws for a secret of fewer than 32 bytes", () => {
    expect(() => new Pins("short")).toThrow(TypeError);
    expect(() => new Pins([])).toThrow(TypeError);
    expect(() => new Pins([secret, "short"])).toThrow(TypeError);
  });
});
