import { describe, expect, it } from "vitest";
import { type HtmlValue, html, markupOf } from "./html.ts";

describe("html", () => {
  it("escapes every value that is not markup", () => {
    const value = `<a href='x' title="y">&\``;
    expect(markupOf(html`<p title="${value}">${value}</p>`)).toBe(
      '<p title="&lt;a href=&#39;x&#39; title=&quot;y&quot;&gt;&amp;&#96;">&lt;a href=&#39;x&#39; title=&quot;y&quot;&gt;&amp;&#96;</p>',
    );
  });

  it("joins lists, takes markup as it is and leaves nothing for absent values", () => {
    const items = ["<1>", "2"].map((item) => html`<li>${item}</li>`);
    expect(markupOf(html`<ul>${items}</ul>${null}${undefined}${false}${0}`)).toBe(
      "<ul><li>&lt;1&gt;</li><li>2</li></ul>0",
    );
  });

  it("does not take data that looks like markup's object for markup", () => {
    const forged: HtmlValue[] = JSON.parse('["<b>", {"markup": "<i>"}]');
    expect(() => markupOf(html`${forged}`)).toThrow(TypeError);
    expect(markupOf(html`${forged[0]}`)).toBe("&lt;b&gt;");
  });
});
