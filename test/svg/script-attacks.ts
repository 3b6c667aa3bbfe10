import { type AttackRow, dataUri, type Means, NAMES, SQUARE, svg, XHTML } from "./attack.ts";

/** SVGs that try to run a script. */
export function scriptAttacks({ script, elsewhere }: Means): AttackRow[] {
  return [...elements(script, elsewhere), ...handlers(script), ...links(script), ...animations(script)];
}

function elements(script: string, elsewhere: string): AttackRow[] {
  const scriptUri = dataUri("text/javascript", script);
  return [
    ["a script", svg(`<script>${script}</script>`), "run"],
    ["a script in CDATA", svg(`<script><![CDATA[${script}]]></script>`), "run"],
    ["a script of another file", svg(`<script href="${elsewhere}/x.js"/>`), "request"],
    ["a script of another file by xlink", svg(`<script xlink:href="${elsewhere}/x.js"/>`), "request"],
    ["a script of a data address", svg(`<script href="${scriptUri}"/>`), "run"],
    [
      "a script with a prefix",
      `<s:svg xmlns:s="http://www.w3.org/2000/svg" width="100" height="100"><s:script>${script}</s:script></s:svg>`,
      "run",
    ],
    [
      "a script of XHTML",
      svg(`<h:script xmlns:h="http://www.w3.org/1999/xhtml">${script}</h:script>`),
      "run",
    ],
    ["a script of XHTML by a default namespace", svg(`<g><script ${XHTML}>${script}</script></g>`), "run"],
    [
      "a script in elements that are not known",
      svg(
        `<x:a xmlns:x="urn:x"><foo><script xmlns="http://www.w3.org/2000/svg">${script}</script></foo></x:a>`,
      ),
      "run",
    ],
    ["a script in metadata", svg(`<metadata><script>${script}</script></metadata>`), "run"],
    ["a script in a title", svg(`<title><script>${script}</script></title>`), "run"],
    ["a script in a style sheet", svg(`<style><script>${script}</script></style>`), "run"],
    [
      "a script in foreignObject",
      svg(
        `<foreignObject width="100" height="100"><div ${XHTML}><script>${script}</script></div></foreignObject>`,
      ),
      "run",
    ],
    [
      "a picture of HTML whose error is handled",
      svg(
        `<foreignObject width="100" height="100"><img ${XHTML} src="x" onerror="${script}"/></foreignObject>`,
      ),
      "run",
    ],
    [
      "a frame with a script address",
      svg(
        `<foreignObject width="100" height="100"><iframe ${XHTML} src="javascript:parent.${script}"/></foreignObject>`,
      ),
      "run",
    ],
    [
      "a frame of markup",
      svg(
        `<foreignObject width="100" height="100"><iframe ${XHTML} srcdoc="&lt;script&gt;parent.${script}&lt;/script&gt;"/></foreignObject>`,
      ),
      "run",
    ],
    ["an iframe of SVG", svg(`<iframe ${XHTML} src="${elsewhere}/frame"/>`), "request"],
    ["an object", svg(`<object ${XHTML} data="${elsewhere}/object"/>`)],
    ["an embed", svg(`<embed ${XHTML} src="${elsewhere}/embed"/>`)],
    [
      "a handler element of SVG Tiny",
      svg(
        `<handler type="application/ecmascript" xmlns:ev="http://www.w3.org/2001/xml-events" ev:event="load">${script}</handler>`,
      ),
    ],
    [
      "a listener element",
      svg(`<ev:listener xmlns:ev="http://www.w3.org/2001/xml-events" event="load" handler="#h"/>`),
    ],
    [
      "a script of an entity",
      svg("<script>&s;</script>", "", `<!DOCTYPE svg [<!ENTITY s "${script}">]>`),
      "run",
    ],
    ["a script in UTF-16", Buffer.from(`\ufeff${svg(`<script>${script}</script>`)}`, "utf16le"), "run"],
    ["a script in UTF-16 without a mark", Buffer.from(svg(`<script>${script}</script>`), "utf16le").swap16()],
    [
      "a script in an encoding of escapes",
      Buffer.from(
        svg(`<script>${script}</script>`, "", '<?xml version="1.0" encoding="iso-2022-jp"?>'),
        "latin1",
      ),
      "run",
    ],
    [
      "a transformation",
      svg(
        SQUARE,
        "",
        `<?xml-stylesheet type="text/xsl" href="${dataUri("text/xml", `<x:stylesheet xmlns:x="http://www.w3.org/1999/XSL/Transform" version="1.0"><x:template match="/"><script ${XHTML}>${script}</script></x:template></x:stylesheet>`)}"?>`,
      ),
      "run",
    ],
  ];
}

function handlers(script: string): AttackRow[] {
  return [
    ["onload", svg(SQUARE, `onload="${script}"`), "run"],
    ["onload by another case", svg(SQUARE, `onLoad="${script}" ONLOAD="${script}"`)],
    ["onclick", svg(`<g onclick="${script}">${SQUARE}</g>`), "run"],
    ["onmouseover", svg(`<g onmouseover="${script}">${SQUARE}</g>`), "run"],
    ["onfocusin", svg(`<g tabindex="0" autofocus="" onfocusin="${script}">${SQUARE}</g>`), "run"],
    ["onerror of an image", svg(`<image href="missing" onerror="${script}"/>`), "run"],
    ["onbegin", svg(`<rect><animate attributeName="x" dur="1s" onbegin="${script}"/></rect>`), "run"],
    ["onbegin of set", svg(`<set attributeName="x" to="1" onbegin="${script}"/>`), "run"],
    ["a handler of a namespace", svg(SQUARE, `xmlns:o="http://www.w3.org/2000/svg" o:onload="${script}"`)],
    [
      "a handler by a default of the DTD",
      svg(SQUARE, "", `<!DOCTYPE svg [<!ATTLIST svg onload CDATA "${script}">]>`),
      "run",
    ],
    [
      "a handler of an entity",
      svg(SQUARE, 'onload="&s;"', `<!DOCTYPE svg [<!ENTITY s "${script}">]>`),
      "run",
    ],
    [
      "markup by an entity",
      svg("&s;", "", `<!DOCTYPE svg [<!ENTITY s '<script>${script.replaceAll("'", "&#34;")}</script>'>]>`),
      "run",
    ],
    [
      "markup by an entity of references",
      svg("&s;", "", `<!DOCTYPE svg [<!ENTITY s "&#60;script&#62;${script}&#60;/script&#62;">]>`),
      "run",
    ],
  ];
}

function links(script: string): AttackRow[] {
  const address = `javascript:${script}`;
  const link = (attributes: string): string => svg(`<a ${attributes}>${SQUARE}</a>`);
  return [
    ["a link to a script", link(`href="${address}"`), "run"],
    ["a link to a script by xlink", link(`xlink:href="${address}"`), "run"],
    ["a link by another prefix", link(`xmlns:l="http://www.w3.org/1999/xlink" l:href="${address}"`), "run"],
    ["a link in capitals", link(`href="JaVaScRiPt:${script}"`), "run"],
    ["a link with a line break in it", link(`href="java&#10;script:${script}"`), "run"],
    ["a link with a tab in it", link(`href="java&#x9;script&#x3a;${script}"`), "run"],
    ["a link after spaces", link(`href="  &#x20;${address}"`), "run"],
    ["a link after a control character", link(`href="&#x85;&#xa0;${address}"`)],
    [
      "a link of an entity",
      svg(`<a href="&s;:${script}">${SQUARE}</a>`, "", '<!DOCTYPE svg [<!ENTITY s "java&#115;cript">]>'),
      "run",
    ],
    ["a link to a data address", link(`href="${dataUri("text/html", `<script>${script}</script>`)}"`)],
    ["a link to vbscript", link(`href="vbscript:${script}"`)],
    [
      "a link of XHTML",
      svg(
        `<foreignObject width="100" height="100"><a ${XHTML} href="${address}" style="display:block;height:100px">x</a></foreignObject>`,
      ),
      "run",
    ],
    ["a base that is a script", svg(`<a href="#x">${SQUARE}</a>`, `xml:base="${address}//"`)],
    ["an image that is a script", svg(`<image width="9" height="9" href="${address}"/>`)],
    ["a use of a script", svg(`<use href="${address}"/>`)],
    [
      "a use of a drawing in a data address",
      svg(
        `<use href="${dataUri("image/svg+xml", `<svg ${NAMES} id="x"><script>${script}</script></svg>`)}#x"/>`,
      ),
    ],
    [
      "an image that is a drawing with a script",
      svg(
        `<image width="9" height="9" href="${dataUri("image/svg+xml", `<svg ${NAMES}><script>${script}</script></svg>`)}"/>`,
      ),
    ],
    [
      "an image that is declared PNG and is a drawing",
      svg(
        `<image width="9" height="9" href="${dataUri("image/png", `<svg ${NAMES}><script>${script}</script></svg>`)}"/>`,
      ),
    ],
    [
      "a style sheet with a script in it",
      svg(
        `<style>rect{behavior:url(#x);-moz-binding:url("${dataUri("text/xml", "<bindings/>")}#x");width:expression(${script.replaceAll("&", "")})}</style>${SQUARE}`,
      ),
    ],
  ];
}

function animations(script: string): AttackRow[] {
  const address = `javascript:${script}`;
  const animated = (animation: string, attributes = ""): string =>
    svg(`<a ${attributes}>${animation}${SQUARE}</a>`);
  return [
    ["set of href", animated(`<set attributeName="href" to="${address}"/>`), "run"],
    [
      "set of xlink:href",
      animated(`<set attributeName="xlink:href" to="${address}"/>`, 'xlink:href="#x"'),
      "run",
    ],
    [
      "set of href by another prefix",
      animated(
        `<set attributeName="l:href" to="${address}"/>`,
        'xmlns:l="http://www.w3.org/1999/xlink" l:href="#x"',
      ),
    ],
    ["animate of href by values", animated(`<animate attributeName="href" values="${address};x" dur="9s"/>`)],
    [
      "animate of href with spaces",
      animated(`<animate attributeName=" href " from="${address}" to="x" begin="0s" dur="9s"/>`),
    ],
    [
      "animate of href by an entity",
      svg(
        `<a><set attributeName="&h;" to="${address}"/>${SQUARE}</a>`,
        "",
        '<!DOCTYPE svg [<!ENTITY h "hr&#101;f">]>',
      ),
      "run",
    ],
    [
      "set of href from outside",
      svg(`<a id="a">${SQUARE}</a><set href="#a" attributeName="href" to="${address}"/>`),
      "run",
    ],
    ["set of a handler", svg(`<set attributeName="onclick" to="${script}"/>${SQUARE}`)],
    ["an animation of XHTML's namespace", animated(`<set ${XHTML} attributeName="href" to="${address}"/>`)],
  ];
}
