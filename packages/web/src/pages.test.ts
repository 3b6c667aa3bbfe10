import type { EditView, ImageFormat, ImageView } from "@outrigger/core";
import { pagesContract } from "@outrigger/core/testing";
import { describe, expect, it, test } from "vitest";
import { createPages } from "./pages.ts";

pagesContract(test, createPages);

const NOW = Date.parse("2025-11-20T12:00:00.000Z");
const BASE = "https://images.example/img/api/images/Vb3kq0ZsTmWc9aYh2nLxeg";

function link(...formats: ImageFormat[]): Partial<Record<ImageFormat, string>> {
  return Object.fromEntries(formats.map((format) => [format, `${BASE}.${format}`]));
}

const IMAGE: ImageView = {
  id: "Vb3kq0ZsTmWc9aYh2nLxeg",
  name: "Harbour",
  type: "image/png",
  size: 412_345,
  width: 1600,
  height: 900,
  pages: 1,
  agent: { name: "Shutter", version: "2.14.1" },
  createdAt: "2025-11-20T11:00:00.000Z",
  expiresAt: "2025-11-21T11:00:00.000Z",
  viewUrl: "https://images.example/img/Vb3kq0ZsTmWc9aYh2nLxeg/view",
  links: link("png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"),
};

const EDIT: EditView = { image: IMAGE, action: "/img/Vb3kq0ZsTmWc9aYh2nLxeg/edit", pin: "Q7ZK2M4X9T3B8V5N" };

function viewer(change: Partial<ImageView> = {}): string {
  return createPages().viewer({ ...IMAGE, ...change }, NOW).html;
}

function shownPicture(change: Partial<ImageView>): string | undefined {
  return /<img\s+src="([^"]+)"/.exec(viewer(change))?.[1];
}

function property(html: string, name: string): string | undefined {
  return new RegExp(`<meta (?:property|name)="${name}" content="([^"]*)">`).exec(html)?.[1];
}

describe("viewer", () => {
  it("states the facts in words", () => {
    const html = viewer();
    expect(html).toContain("<dt>Dimensions</dt><dd>1600 × 900 pixels</dd>");
    expect(html).toContain("<dt>Size</dt><dd>412 kB</dd>");
    expect(html).toContain("<dt>Type</dt><dd>PNG image</dd>");
    expect(html).toContain("<dt>Uploaded with</dt><dd>Shutter 2.14.1</dd>");
    expect(html).toContain(
      '<b>23 hours left</b><br><time datetime="2025-11-21T11:00:00.000Z">21 Nov 2025, 11:00 UTC</time>',
    );
  });

  it("names the uploader without a version, and not at all where it is unknown", () => {
    expect(viewer({ agent: { name: "curl", version: null } })).toContain(
      "<dt>Uploaded with</dt><dd>curl</dd>",
    );
    expect(viewer({ agent: null })).not.toContain("Uploaded with");
  });

  it.each<[string, ImageFormat]>([
    ["image/png", "png"],
    ["image/jpeg", "jpg"],
    ["image/gif", "gif"],
    ["image/webp", "webp"],
    ["image/svg+xml", "svg"],
    ["image/x-photoshop", "png"],
    ["application/pdf", "png"],
  ])("shows %s as its %s", (type, format) => {
    expect(shownPicture({ type })).toBe(`${BASE}.${format}`);
  });

  it("shows the jpg of a document that has no png", () => {
    expect(shownPicture({ type: "application/pdf", links: link("pdf", "jpg", "gif") })).toBe(`${BASE}.jpg`);
  });

  it.each([
    ["image/x-photoshop", "psd", "PSD"],
    ["application/pdf", "pdf", "PDF"],
  ] as const)("puts a placeholder where %s has no raster", (type, format, name) => {
    const html = viewer({ type, links: link(format) });
    expect(html).not.toContain("<img");
    expect(html).toContain(`<p class="placeholder"><b>${name}</b> No preview of this file</p>`);
    expect(property(html, "twitter:card")).toBe("summary");
    expect(property(html, "og:image")).toBeUndefined();
  });

  it("says which page of a document is shown", () => {
    const html = viewer({ type: "application/pdf", pages: 12 });
    expect(html).toContain("<figcaption>Page 1 of 12</figcaption>");
    expect(html).toContain("<dt>Pages</dt><dd>12</dd>");
    expect(viewer({ type: "image/gif", pages: 24 })).toContain("<dt>Frames</dt><dd>24</dd>");
  });

  it("offers jpg in four qualities, and the untouched original beside them", () => {
    const qualities = (html: string) => [...html.matchAll(/\.jpg\?convert=(\w+)"/g)].map((found) => found[1]);
    expect(qualities(viewer())).toEqual(["low", "medium", "high", "max"]);
    expect(viewer()).not.toContain(`href="${BASE}.jpg" download`);
    const html = viewer({ type: "image/jpeg" });
    expect(qualities(html)).toEqual(["low", "medium", "high", "max"]);
    expect(html).toContain(`href="${BASE}.jpg" download>JPEG original</a>`);
  });

  it("keeps the parameters that a jpg link already has", () => {
    expect(viewer({ links: { jpg: `${BASE}.jpg?v=2` } })).toContain(`href="${BASE}.jpg?v=2&amp;convert=low"`);
  });

  it("gives the addresses to copy, the original's first", () => {
    const fields = viewer({ links: link("pdf", "png") }).matchAll(/readonly value="([^"]+)"/g);
    expect([...fields].map((field) => field[1])).toEqual([IMAGE.viewUrl, `${BASE}.png`, `${BASE}.pdf`]);
  });

  it("describes itself to link previews with a raster", () => {
    const html = viewer({ name: 'A "quoted" & <b>name</b>', type: "image/svg+xml" });
    expect(property(html, "og:title")).toBe("A &quot;quoted&quot; &amp; &lt;b&gt;name&lt;/b&gt;");
    expect(property(html, "og:url")).toBe(IMAGE.viewUrl);
    expect(property(html, "og:image")).toBe(`${BASE}.png`);
    expect(property(html, "og:image:width")).toBe("1600");
    expect(property(html, "twitter:card")).toBe("summary_large_image");
    expect(property(viewer({ type: "image/gif" }), "og:image")).toBe(`${BASE}.gif`);
  });
});

describe("edit page", () => {
  it("offers to keep the expiry or to set it to one of five durations, in milliseconds", () => {
    const { html } = createPages().edit(EDIT, NOW);
    const options = [...html.matchAll(/<option value="(\d*)"/g)].map((found) => found[1]);
    expect(options).toEqual(["", "3600000", "86400000", "604800000", "2592000000", "31536000000"]);
    expect(html).toContain("<code>2025-11-27T12:00:00Z</code>");
  });

  it("lets the forms go to an absolute action on another host", () => {
    const page = createPages().edit({ ...EDIT, action: "https://edit.example/x" }, NOW);
    expect(page.contentSecurityPolicy).toContain("form-action 'self' https://edit.example;");
  });

  it("posts to its own address where the action would leave the site", () => {
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

  it("tells the browser to send its address, which holds the PIN, to nobody", () => {
    expect(createPages().edit(EDIT, NOW).html).toContain('<meta name="referrer" content="no-referrer">');
  });
});

describe("createPages", () => {
  it("puts the product's name on every page, as text", () => {
    const pages = createPages({ productName: "<i>Harbour & Co</i>" });
    for (const page of [
      pages.viewer(IMAGE, NOW),
      pages.edit(EDIT, NOW),
      pages.problem({ status: 404, title: "Not found", detail: "" }),
    ]) {
      expect(page.html).toContain("<header>&lt;i&gt;Harbour &amp; Co&lt;/i&gt;</header>");
      expect(page.html).not.toContain("<i>");
    }
  });

  it("refuses a product name that is empty, too long or no text", () => {
    for (const productName of ["", "  ", "x".repeat(61), 7 as unknown as string]) {
      expect(() => createPages({ productName })).toThrow(
        new TypeError('"productName" must be a string of 1 to 60 characters'),
      );
    }
  });
});
