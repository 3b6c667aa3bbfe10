import type { ImageView } from "@outrigger/core/images";
import { describe, expect, it } from "vitest";
import { BYTES, EDIT, IMAGE, NOW } from "../../test/views.ts";
import { createPages } from "../pages.ts";

describe("edit page", () => {
  it("offers to keep the expiry or to set it to one of five durations in milliseconds", () => {
    const { html } = createPages().edit(EDIT, NOW);
    const options = [...html.matchAll(/<option value="(\d*)"/g)].map((found) => found[1]);
    expect(options).toEqual(["", "3600000", "86400000", "604800000", "2592000000", "31536000000"]);
  });

  it("offers only expiries within the longest lifetime", () => {
    const { html } = createPages().edit({ ...EDIT, image: { ...IMAGE, maxLifetimeMs: 7 * 86_400_000 } }, NOW);
    expect([...html.matchAll(/<option value="(\d+)"/g)].map((found) => found[1])).toEqual([
      "3600000",
      "86400000",
      "604800000",
    ]);
    expect(html).toContain('min="2025-11-20T12:01" max="2025-11-27T12:00"');
    expect(html).toContain("You can choose up to 7 days.");
  });

  it("offers Never, and no latest date, where the service sets no longest lifetime", () => {
    const radios = (image: ImageView) => {
      const { html } = createPages().edit({ ...EDIT, image }, NOW);
      return [...html.matchAll(/name="expiry" value="(\w+)"/g)].map(([, value]) => value);
    };
    expect(radios(IMAGE)).toEqual(["keep", "in", "on"]);
    expect(radios({ ...IMAGE, expiresAt: null })).toEqual(["keep", "in", "on"]);
    expect(radios({ ...IMAGE, maxLifetimeMs: null })).toEqual(["keep", "in", "on", "never"]);
    const kept = { ...IMAGE, expiresAt: null, maxLifetimeMs: null };
    const { html } = createPages().edit({ ...EDIT, image: kept }, NOW);
    expect(html).toContain("<p>Never expires</p>");
    expect(html).toContain('min="2025-11-20T12:01"');
    expect(html).not.toMatch(/ max="\d{4}-|You can choose|Infinity|null/);
  });

  it("shows a thumbnail of the image", () => {
    expect(createPages().edit(EDIT, NOW).html).toContain(`src="${BYTES}.webp?resize=192x192"`);
    const drawing = { ...IMAGE, type: "image/svg+xml" };
    expect(createPages().edit({ ...EDIT, image: drawing }, NOW).html).toContain(`src="${BYTES}.svg"`);
  });

  it("allows its forms to post to an absolute action on another host", () => {
    const page = createPages().edit({ ...EDIT, action: "https://edit.example/x" }, NOW);
    expect(page.contentSecurityPolicy).toContain("form-action 'self' https://edit.example;");
  });

  it("posts to its own address when the action is a reference to another host", () => {
    for (const action of [
      "//evil.example/x",
      "/\t/evil.example/x",
      "\\\\evil.example/x",
      "javascript:alert(1)",
    ]) {
      const page = createPages().edit({ ...EDIT, action }, NOW);
      expect(page.html).not.toContain(" action=");
      expect(page.contentSecurityPolicy).toContain("form-action 'self';");
    }
  });

  it("sends no referrer, because its address holds the PIN", () => {
    expect(createPages().edit(EDIT, NOW).html).toContain('<meta name="referrer" content="no-referrer">');
  });
});
