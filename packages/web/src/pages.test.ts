import { pagesContract } from "@outrigger/testing";
import { describe, expect, it, test } from "vitest";
import { EDIT, IMAGE, NOW, REPORT } from "../test/views.ts";
import { createPages } from "./pages.ts";

pagesContract(test, createPages);

describe("createPages", () => {
  it("puts the product name on every page, escaped", () => {
    const pages = createPages({ productName: "<i>Harbour & Co</i>" });
    for (const page of [
      pages.viewer(IMAGE, NOW),
      pages.edit(EDIT, NOW),
      pages.problem({ baseUrl: IMAGE.baseUrl, status: 404, title: "Not found", detail: "" }),
    ]) {
      expect(page.html).toMatch(
        /<a class="brand" href="[^"]+\/img\/"><img src="[^"]+\/icon-[^"]+" alt="" width="28" height="28">&lt;i&gt;Harbour &amp; Co&lt;\/i&gt;<\/a>/,
      );
      expect(page.html).not.toContain("<i>");
    }
  });

  it("throws a TypeError for a product name that is empty, too long or not text", () => {
    for (const productName of ["", "  ", "x".repeat(61), 7 as unknown as string]) {
      expect(() => createPages({ productName })).toThrow(
        "createPages: productName must be a text of 1 to 60 characters, not ",
      );
    }
  });
});

describe("the footer", () => {
  it("has the terms, the API and the contact on every page, and the report beside an image", () => {
    const pages = createPages({
      contact: "abuse@images.example",
      terms: "https://images.example/terms?a=1&b=2",
    });
    const report = pages.report?.(REPORT);
    for (const page of [
      pages.viewer(IMAGE, NOW),
      pages.edit(EDIT, NOW),
      pages.problem({ baseUrl: IMAGE.baseUrl, status: 404, title: "Not found", detail: "" }),
      ...(report === undefined ? [] : [report]),
    ]) {
      expect(page.html).toContain(
        `<footer><a href="https://images.example/terms?a=1&amp;b=2">Terms</a><a href="${IMAGE.baseUrl}/api/openapi.json">API</a><a href="mailto:abuse@images.example">Contact</a></footer>`,
      );
    }
    const reportUrl = `${IMAGE.baseUrl}/${IMAGE.id}/report`;
    const api = `<a href="${IMAGE.baseUrl}/api/openapi.json">API</a></footer>`;
    expect(createPages().viewer(IMAGE, NOW).html).toContain(`<footer>${api}`);
    expect(createPages().viewer({ ...IMAGE, reportUrl }, NOW).html).toContain(
      `<footer><a href="${reportUrl}" rel="nofollow">Report this image</a>${api}`,
    );
  });

  it.each([
    ["contact", "javascript:alert(1)"],
    ["contact", "two words"],
    ["contact", 'a"b@images.example'],
    ["terms", "javascript:alert(1)"],
    ["terms", "/terms"],
  ])("throws a TypeError for the %s %j", (name, value) => {
    expect(() => createPages({ [name]: value })).toThrow(`createPages: ${name} must be an`);
  });
});

describe("the form to report an image", () => {
  it("keeps what was typed, and names the wrong fields", () => {
    const typed = { reason: "privacy", statement: "</textarea><b>", contact: '"><i>' };
    const { html } = createPages().report?.({ ...REPORT, typed, faults: ["contact"] }) ?? { html: "" };
    expect(html).toContain('<option value="privacy" selected>');
    expect(html).toContain("&lt;/textarea&gt;&lt;b&gt;");
    expect(html).toContain(
      'value="&quot;&gt;&lt;i&gt;" aria-invalid="true" aria-describedby="contact-fault contact-hint" autofocus',
    );
  });

  it("shows the reference and the date after the report", () => {
    const filed = { reference: "23456789AB", dueAt: "2025-11-23T11:00:00.000Z" };
    const { html } = createPages().report?.({ ...REPORT, filed }) ?? { html: "" };
    expect(html).toContain("<code>23456789AB</code>");
    expect(html).toContain('<time datetime="2025-11-23T11:00:00.000Z">');
    expect(html).not.toContain("<form");
  });
});

describe("the policy", () => {
  it("names the directory of the page's files if a policy can express it", () => {
    const policyOf = (baseUrl: string) =>
      createPages()
        .viewer({ ...IMAGE, baseUrl }, NOW)
        .contentSecurityPolicy.split("; ");
    expect(policyOf(IMAGE.baseUrl)).toContain("script-src https://images.example/img/assets/");
    expect(policyOf("https://images.example")).toContain("script-src https://images.example/assets/");
    expect(policyOf("http://[::1]:3000")).toContain("script-src 'self'");
    expect(policyOf("https://images.example/a;b")).toContain("script-src 'self' https://images.example");
  });
});

describe("problem page", () => {
  const problem = {
    baseUrl: IMAGE.baseUrl,
    status: 410,
    title: "Gone",
    detail: "It expired at 2025-11-21T11:00:00.000Z.",
  };

  it("shows what happened and what the reader can do", () => {
    const { html } = createPages().problem(problem);
    expect(html).toContain("<h1>This image is no longer available</h1>");
    expect(html).toContain('<time datetime="2025-11-21T11:00:00.000Z">21 Nov 2025, 11:00 UTC</time>');
    expect(html).toContain("Ask the person who shared it");
    expect(html).toContain(`href="${IMAGE.baseUrl}/">Upload an image</a>`);
  });

  it("confirms a deletion to the client that deleted the image", () => {
    const { html } = createPages().problem({ ...problem, justDeleted: true });
    expect(html).toContain("<h1>Image deleted</h1>");
    expect(html).not.toContain("Ask the person");
  });

  it.each([
    [400, "page must be a whole number from 1", "<p>Page must be a whole number from 1.</p>"],
    [403, "This is not allowed", "<p>This is not allowed.</p>"],
    [400, "expiresAt must be in the future", "<p>expiresAt must be in the future.</p>"],
    [507, "The storage has no room left.", "<p>The storage has no room left.</p>\n<p>Try again later.</p>"],
  ])("writes the detail of a %d as a sentence", (status, detail, markup) => {
    expect(createPages().problem({ ...problem, status, detail }).html).toContain(markup);
  });

  it("says once when to try again", () => {
    const saying = (view: object) => {
      const { html } = createPages().problem({ ...problem, ...view });
      return html.slice(html.indexOf("<main")).match(/Try again[^<]*/g);
    };
    const failed = { status: 500, detail: "Something unexpected went wrong. Try again later." };
    expect(saying(failed)).toEqual(["Try again later."]);
    const busy = { status: 503, detail: "The storage does not answer at the moment. Try again later." };
    expect(saying({ ...busy, retryAfterSeconds: 2 })).toEqual(["Try again in 2 seconds."]);
    expect(saying(busy)).toEqual(["Try again later."]);
  });

  it("allows requests to the service only while an image is processing", () => {
    expect(createPages().problem(problem).contentSecurityPolicy).not.toContain("connect-src");
    expect(createPages().problem({ ...problem, status: 202 }).contentSecurityPolicy).toContain(
      "connect-src 'self'",
    );
  });

  it("links to an authority, unless its address is not an http(s) URL", () => {
    const by = (authority: string) => createPages().problem({ ...problem, status: 451, authority }).html;
    expect(by("https://court.example/7")).toContain(
      '<a href="https://court.example/7" rel="nofollow">About this request</a>',
    );
    expect(by("javascript:alert(1)")).not.toContain("javascript:");
  });
});
