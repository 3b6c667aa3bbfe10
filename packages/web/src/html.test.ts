import { describe, expect, it } from "vitest";
import { type HtmlValue, html, markupOf } from "./html.ts";

describe("the html template tag", () => {
  it("escapes every value that is not markup", () => {
    const value = `<a href='x' title="y">&\``;
    expect(markupOf(html`<p title="${value}">${value}</p>`)).toBe(
      '<p title="&lt;a href=&#39;x&#39; title=&quot;y&quot;&gt;&amp;&#96;">&lt;a href=&#39;x&#39; title=&quot;y&quot;&gt;&amp;&#96;</p>',
    );
  });

  it("joins lists, keeps markup unescaped and renders absent values as nothing", () => {
    const items = ["<1>", "2"].map((item) => html`<li>${item}</li>`);
    expect(markupOf(html`<ul>${items}</ul>${null}${undefined}${false}${0}`)).toBe(
      "<ul><li>&lt;1&gt;</li><li>2</li></ul>0",
    );
  });

  it("escapes data that has the shape of a markup object", () => {
    const forged: HtmlValue[] = JSON.parse('["<b>", {"markup": "<i>"}]');
    expect(() => markupOf(html`${forged}`)).toThrow(TypeError);
    expect(markupOf(html`${forged[0]}`)).toBe("&lt;b&gt;");
  });
});
