import type { ImageView } from "@outrigger/core/images";
import { describe, expect, it } from "vitest";
import { BYTES, IMAGE, linksOf, NOW } from "../test/views.ts";
import { createPages } from "./pages.ts";

function viewer(change: Partial<ImageView> = {}): string {
  return createPages().viewer({ ...IMAGE, ...change }, NOW).html;
}

function shownPicture(change: Partial<ImageView>): string | undefined {
  return /<picture>.*?<img\s+src="([^"]+)"/s.exec(viewer(change))?.[1];
}

function property(html: string, name: string): string | undefined {
  return new RegExp(`<meta (?:property|name)="${name}" content="([^"]*)">`).exec(html)?.[1];
}

describe("viewer", () => {
  it("shows the facts of an image in words", () => {
    const html = viewer();
    expect(html).toContain("<dt>Dimensions</dt><dd>1600 × 900 pixels</dd>");
    expect(html).toContain("<dt>Size</dt><dd>403 kB</dd>");
    expect(html).toContain("<dt>Type</dt><dd>PNG image</dd>");
    expect(html).toContain("<dt>Uploaded with</dt><dd>Shutter 2.14.1</dd>");
    expect(html).toContain('<summary>Details · <span class="left">23 hours left</span></summary>');
  });

  it("names an upload program without its version, and shows no line for an unknown one", () => {
    expect(viewer({ agent: { name: "curl", version: null } })).toContain(
      "<dt>Uploaded with</dt><dd>curl</dd>",
    );
    expect(viewer({ agent: null })).not.toContain("Uploaded with");
    expect(viewer({ agent: { name: "Mozilla", version: "5.0" } })).toContain("Mozilla 5.0 (a web browser)");
  });

  it.each([
    [1190, 1684, "210 × 297 mm"],
    [1684, 1190, "297 × 210 mm"],
    [1000, 400, "176 × 71 mm"],
  ])("shows a page of a document of %d × %d pixels in millimetres: %s", (width, height, text) => {
    expect(viewer({ type: "application/pdf", width, height })).toContain(
      `<dt>Page size</dt><dd>${text}</dd>`,
    );
  });

  it("offers the first frame of an animation to readers who prefer reduced motion", () => {
    const source = `<source media="(prefers-reduced-motion: reduce)" srcset="${BYTES}.png">`;
    expect(viewer({ type: "image/gif", pages: 9 })).toContain(source);
    expect(viewer({ type: "image/gif", pages: 1 })).not.toContain("<source");
  });

  it.each([
    ["image/png", "png"],
    ["image/jpeg", "jpg"],
    ["image/gif", "gif"],
    ["image/svg+xml", "svg"],
    ["image/x-photoshop", "webp"],
    ["application/pdf", "webp"],
  ])("shows an original of type %s as %s", (type, format) => {
    expect(shownPicture({ type })).toBe(`${BYTES}.${format}`);
  });

  it("shows a bounded rendition of a picture larger than a screen, linked to the original", () => {
    const html = viewer({ type: "image/jpeg", width: 6000, height: 4000, size: 9_000_000 });
    expect(html).toContain(`src="${BYTES}.webp?resize=2048x2048"`);
    expect(html).toContain(
      `srcset="${BYTES}.webp?resize=1024x1024 1024w, ${BYTES}.webp?resize=2048x2048 2048w"`,
    );
    expect(html).toContain('width="2048" height="1365"');
    expect(html).toContain(`<a class="stage" href="${BYTES}.jpg">`);
    expect(html).toContain(`Scaled to fit. <a href="${BYTES}.jpg">View full size</a>`);
    expect(html).toContain('sizes="min(100vw, 86rem, (100vh - 13rem) * 1.500)"');
  });

  it("shows a WebP rendition of a picture with many bytes for its size", () => {
    expect(shownPicture({ width: 2000, height: 2000, size: 11_000_000 })).toBe(`${BYTES}.webp`);
  });

  it.each([
    ["image/x-photoshop", "psd", "PSD"],
    ["application/pdf", "pdf", "PDF"],
  ] as const)("shows a placeholder for an image of type %s without a raster", (type, format, name) => {
    const html = viewer({ type, links: linksOf(format) });
    expect(html).not.toContain("<picture");
    expect(html).toContain(
      `<a class="placeholder" href="${BYTES}.${format}"><b>${name}</b> No preview available</a>`,
    );
    expect(property(html, "twitter:card")).toBe("summary");
    expect(property(html, "og:image")).toBeUndefined();
  });

  it("links to the pages of a document, and has a page number field when there are many", () => {
    const html = viewer({ type: "application/pdf", pages: 12, page: 3 });
    expect(html).toContain(`rel="prev" href="${IMAGE.viewUrl}?page=2"`);
    expect(html).toContain(`rel="next" href="${IMAGE.viewUrl}?page=4"`);
    expect(html).toContain(`<form action="${IMAGE.viewUrl}">`);
    expect(html).toContain("<dt>Pages</dt><dd>12</dd>");
    const short = viewer({ type: "application/pdf", pages: 2 });
    expect(short).toContain("<span>Page 1 of 2</span>");
    expect(short).not.toContain('<input id="page"');
  });

  it("shows the number of frames of an animation, without page links", () => {
    const html = viewer({ type: "image/gif", pages: 24 });
    expect(html).toContain("<dt>Frames</dt><dd>24</dd>");
    expect(html).not.toContain("<nav");
  });

  it("names what was not kept of the upload", () => {
    const html = viewer({ warnings: ["colors_reduced", "first_frame_only"] });
    expect(html).toContain(
      "<dt>Not kept</dt><dd>colours beyond 256, frames after the first, in other formats and sizes</dd>",
    );
    expect(viewer({})).not.toContain("Not kept");
  });

  it("gives addresses of the shown page, and of the whole original", () => {
    const html = viewer({ type: "application/pdf", pages: 12, page: 3 });
    expect(shownPicture({ type: "application/pdf", pages: 12, page: 3 })).toBe(`${BYTES}.webp?page=3`);
    expect(html).toContain(`value="${BYTES}.png?page=3"`);
    expect(html).toContain('<option value="jpg?page=3&amp;convert=low">JPEG, low quality</option>');
    expect(html).toContain('<option value="pdf">PDF, original</option>');
    expect(property(html, "og:url")).toBe(`${IMAGE.viewUrl}?page=3`);
    expect(property(html, "og:image")).toBe(`${BYTES}.jpg?page=3&amp;resize=1200x1200`);
    // The view has the size of the shown page.
    expect(property(html, "og:image:width")).toBe("1200");
  });

  it("offers each format, JPEG in four qualities and the untouched original, to its own address", () => {
    const values = (change: Partial<ImageView>) => {
      const [, action, options = ""] =
        /<form class="pane" action="([^"]+)">.*?<select id="download"[^>]*>(.*?)<\/select>/s.exec(
          viewer(change),
        ) ?? [];
      expect(action).toBe(IMAGE.viewUrl);
      return [...options.matchAll(/<option value="([^"]+)">/g)].map(([, value]) => value);
    };
    const qualities = ["low", "medium", "high", "max"].map((quality) => `jpg?convert=${quality}`);
    expect(values({ links: linksOf("png", "jpg", "webp") })).toEqual(["png", ...qualities, "webp"]);
    expect(values({ type: "image/jpeg", links: linksOf("png", "jpg") })).toEqual([
      "jpg",
      ...qualities,
      "png",
    ]);
    expect(values({ links: linksOf("png", "jpg"), sign: (address) => `${address}&s=x` })).toEqual([
      "png",
      ...qualities.map((quality) => `${quality}&amp;s=x`),
    ]);
  });

  it("offers smaller sizes of a picture, larger ones only where it is drawn, and none that need a signature", () => {
    const sizes = (change: Partial<ImageView>) => {
      const [, options = ""] = /<select id="resize"[^>]*>(.*?)<\/select>/.exec(viewer(change)) ?? [];
      return [...options.matchAll(/<option value="([^"]*)">/g)].map(([, value]) => value);
    };
    expect(sizes({})).toEqual(["", "800x800", "320x320"]);
    expect(sizes({ width: 2000, height: 4000 })).toEqual(["", "2048x2048", "800x800", "320x320"]);
    expect(sizes({ type: "application/pdf", width: 100 })).toEqual(["", "2048x2048", "800x800", "320x320"]);
    expect(sizes({ width: 320, height: 200 })).toEqual([]);
    expect(sizes({ width: null })).toEqual([]);
    expect(sizes({ sign: (address) => address })).toEqual([]);
  });

  it("has codes that embed the picture in three sizes, and links to a file that browsers do not show", () => {
    const fields = (change: Partial<ImageView>) =>
      [...viewer(change).matchAll(/readonly value="([^"]+)"/g)].map((field) => field[1]);
    const codes = fields({ name: "A [b] <c>", links: linksOf("pdf", "png") });
    expect(codes.slice(0, 5)).toEqual([
      IMAGE.viewUrl,
      `${BYTES}.png`,
      `[![A \\[b\\] \\&lt;c\\&gt;](${BYTES}.png)](${IMAGE.viewUrl})`,
      `&lt;a href=&quot;${IMAGE.viewUrl}&quot;&gt;&lt;img src=&quot;${BYTES}.png&quot; alt=&quot;A [b] &amp;lt;c&amp;gt;&quot;&gt;&lt;/a&gt;`,
      `[url=${IMAGE.viewUrl}][img]${BYTES}.png[/img][/url]`,
    ]);
    expect([codes[5], codes[9], codes.length]).toEqual([
      `${BYTES}.png?resize=800x800`,
      `${BYTES}.png?resize=320x320`,
      13,
    ]);
    expect(fields({ type: "image/x-photoshop", links: linksOf("psd") })).toEqual([
      IMAGE.viewUrl,
      `${BYTES}.psd`,
      `[Harbour](${BYTES}.psd)`,
      `&lt;a href=&quot;${BYTES}.psd&quot;&gt;Harbour&lt;/a&gt;`,
      `[url]${BYTES}.psd[/url]`,
    ]);
  });

  it("names the address by which other sites embed it", () => {
    const { baseUrl, viewUrl } = IMAGE;
    expect(viewer({ type: "application/pdf", pages: 3, page: 2 })).toContain(
      `<link rel="alternate" type="application/json+oembed" title="Harbour" href="${baseUrl}/api/oembed.json?url=${encodeURIComponent(`${viewUrl}?page=2`)}">`,
    );
  });

  it("has Open Graph tags for link previews", () => {
    const html = viewer({ name: 'A "quoted" & <b>name</b>' });
    expect(property(html, "og:title")).toBe("A &quot;quoted&quot; &amp; &lt;b&gt;name&lt;/b&gt;");
    expect(property(html, "og:url")).toBe(IMAGE.viewUrl);
    expect(property(html, "twitter:card")).toBe("summary_large_image");
  });

  it.each<[string, Partial<ImageView>, string, string | undefined, string | undefined]>([
    ["a large PNG", {}, "png?resize=1200x1200", "1200", "675"],
    ["a small PNG", { width: 640, height: 480, size: 9_000 }, "png", "640", "480"],
    ["a photograph in a PNG", { size: 3_000_000 }, "jpg?resize=1200x1200", "1200", "675"],
    [
      "a photograph",
      { type: "image/jpeg", width: 4000, height: 6000 },
      "jpg?resize=1200x1200",
      "800",
      "1200",
    ],
    ["a drawing", { type: "image/svg+xml", width: 120, height: 80 }, "png?resize=1200x1200", "1200", "800"],
    [
      "a document",
      { type: "application/pdf", width: 595, height: 842 },
      "jpg?resize=1200x1200",
      "848",
      "1200",
    ],
    ["an animation", { type: "image/gif", pages: 9 }, "gif", "1600", "900"],
    ["a heavy animation", { type: "image/gif", pages: 9, size: 9e6 }, "png?resize=1200x1200", "1200", "675"],
    [
      "a picture of unknown size",
      { width: null, height: null },
      "png?resize=1200x1200",
      undefined,
      undefined,
    ],
  ])("offers %s to link previews as a raster of bounded size", (_, change, picture, width, height) => {
    const html = viewer(change);
    expect(property(html, "og:image")).toBe(`${BYTES}.${picture}`);
    expect([property(html, "og:image:width"), property(html, "og:image:height")]).toEqual([width, height]);
  });
});
