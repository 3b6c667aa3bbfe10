import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Pins } from "../record/pin.ts";
import { AddressSignatures, canonicalAddress, type SignedAddress } from "./address-signatures.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const ID = "AAAAAAAAAAAAAAAAAAAAAA";
const ADDRESS: SignedAddress = {
  id: ID,
  format: "jpg",
  parameters: { quality: "low", maxWidth: 800, maxHeight: 600, page: 2 },
  untilMs: 1_767_225_600_000,
};

describe("canonicalAddress", () => {
  test.each<[string, Partial<SignedAddress>, string]>([
    ["all parameters by name", {}, ".jpg?convert=low&page=2&resize=800x600&until=1767225600000"],
    ["a width alone", { parameters: { maxWidth: 8 } }, ".jpg?resize=8x&until=1767225600000"],
    ["a height alone", { parameters: { maxHeight: 8 }, untilMs: undefined }, ".jpg?resize=x8"],
    ["a preset", { parameters: {}, preset: "thumb", untilMs: 5 }, ".jpg?preset=thumb&until=5"],
    ["no query without parameters", { parameters: {}, untilMs: undefined }, ".jpg"],
  ])("writes %s", (_, change, expected) => {
    expect(canonicalAddress({ ...ADDRESS, ...change })).toBe(`/api/images/${ID}${expected}`);
  });
});

describe("an address signature", () => {
  const signatures = new AddressSignatures(SECRET);
  const signature = signatures.sign(ADDRESS);

  test("is the base64url HMAC-SHA256 of the canonical address under a derived key", () => {
    const key = createHmac("sha256", SECRET).update("outrigger image address signature, version 1").digest();
    const expected = createHmac("sha256", key)
      .update(`/api/images/${ID}.jpg?convert=low&page=2&resize=800x600&until=1767225600000`)
      .digest("base64url");
    expect(signature).toBe(expected);
    expect(signature).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(signatures.verify(ADDRESS, signature)).toBe("size");
  });

  test("does not verify if a character differs, is missing, is added or changes case", () => {
    const swapped = signature.replace(/[A-Za-z]/, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    );
    // A comparison of decoded bytes would ignore the lowest two bits of the last character.
    const last = signature.charAt(42) === "A" ? "B" : "A";
    const wrongs = [
      ...[swapped, signature.slice(0, 42) + last, signature.slice(1), `${signature}=`, `${signature}A`],
      ...["", "é".repeat(43), "A".repeat(43), Buffer.from(signature, "base64url").toString("hex")],
    ];
    for (const wrong of wrongs) expect(signatures.verify(ADDRESS, wrong)).toBeNull();
  });

  test("of a size permits no read, and one of a read is another", () => {
    const signatures = new AddressSignatures("s".repeat(32));
    const [size, read] = [signatures.sign(ADDRESS), signatures.sign(ADDRESS, "read")];
    expect(size).not.toBe(read);
    expect([signatures.verify(ADDRESS, size), signatures.verify(ADDRESS, read)]).toEqual(["size", "read"]);
  });

  test("does not verify as a PIN, and a PIN does not verify as a signature", () => {
    const pins = new Pins(SECRET);
    expect(pins.verify(ID, signature.slice(0, 16))).toBe(false);
    expect(signatures.verify(ADDRESS, pins.pinOf(ID))).toBeNull();
  });

  test("is no sealed text, and a sealed text is unsealed with the secret that sealed it, in one spelling", () => {
    const sealed = signatures.seal("the terms");
    expect(signatures.unseal(sealed)).toBe("the terms");
    expect(signatures.seal("the terms")).not.toBe(sealed);
    expect(new AddressSignatures(["f".repeat(32), SECRET]).unseal(sealed)).toBe("the terms");
    expect(new AddressSignatures("f".repeat(32)).unseal(sealed)).toBeNull();
    for (const other of [
      signature,
      "",
      `${sealed}=`,
      `${sealed}\n`,
      sealed.replace(/.$/, ""),
      "A".repeat(43),
    ]) {
      expect(signatures.unseal(other)).toBeNull();
    }
    expect(() => new AddressSignatures().seal("too early")).toThrow("before the store was open");
  });

  test("throws a TypeError for a secret shorter than 32 bytes and for an empty list", () => {
    expect(() => new AddressSignatures("short")).toThrow(TypeError);
    expect(() => new AddressSignatures([])).toThrow(TypeError);
  });
});
