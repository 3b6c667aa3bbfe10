import { type AttackRow, dataUri, type Means, NAMES, SQUARE, svg, XHTML } from "./attack.ts";

/** SVGs whose elements and prologs try to load resources from elsewhere. */
export function reachingAttacks({ elsewhere }: Means): AttackRow[] {
  return [...references(elsewhere), ...documents(elsewhere)];
}

function references(elsewhere: string): AttackRow[] {
  const picture = `${elsewhere}/picture.png`;
  const sized = 'width="100" height="100"';
  return [
    ["an image", svg(`<image ${sized} href="${picture}"/>`), "request"],
    ["an image by xlink", svg(`<image ${sized} xlink:href="${picture}"/>`), "request"],
    [
      "an image by another prefix",
      svg(`<image ${sized} xmlns:q="http://www.w3.org/1999/xlink" q:href="${picture}"/>`),
      "request",
    ],
    ["an image without a scheme", svg(`<image ${sized} href="${picture.replace("http:", "")}"/>`), "request"],
    ["an image beside the file", svg(`<image ${sized} href="beside.png"/>`)],
    ["an image of a file", svg(`<image ${sized} href="file:///etc/hostname"/>`)],
    ["an image of the document itself", svg(`<image ${sized} href=""/><image ${sized} href="#x"/>`)],
    ["an image with srcset", svg(`<image ${sized} srcset="${picture} 1x" src="${picture}"/>`)],
    [
      "an image that is a drawing with an image",
      svg(
        `<image ${sized} href="${dataUri("image/svg+xml", `<svg ${NAMES}><image ${sized} href="${picture}"/></svg>`)}"/>`,
      ),
    ],
    [
      "an image of a filter",
      svg(`<filter id="f"><feImage href="${picture}"/></filter><rect ${sized} filter="url(#f)"/>`),
      "request",
    ],
    [
      "an image that is set",
      svg(`<image ${sized}><set attributeName="href" to="${picture}"/></image>`),
      "request",
    ],
    [
      "an image that is animated",
      svg(`<image ${sized}><animate attributeName="xlink:href" values="${picture}" dur="1s"/></image>`),
      "request",
    ],
    ["a use", svg(`<use href="${elsewhere}/drawing.svg#x"/>`), "request"],
    [
      "a gradient of another",
      svg(`<linearGradient href="${elsewhere}/g.svg#x" id="g"/><rect ${sized} fill="url(#g)"/>`),
    ],
    ["a path of a text", svg(`<text><textPath href="${elsewhere}/p.svg#x">x</textPath></text>`)],
    ["a link out", svg(`<a href="${elsewhere}/page">${SQUARE}</a>`), "request"],
    ["a link out by xlink", svg(`<a xlink:href="${elsewhere}/page">${SQUARE}</a>`), "request"],
    ["a link that pings", svg(`<a href="#x" ping="${elsewhere}/ping">${SQUARE}</a>`)],
    ["a base", svg(`<image ${sized} href="picture.png"/>`, `xml:base="${elsewhere}/"`)],
    ["a picture of HTML", svg(`<img ${XHTML} src="${picture}"/>`), "request"],
    [
      "a picture of HTML with candidates",
      svg(`<foreignObject ${sized}><img ${XHTML} srcset="${picture} 1x"/></foreignObject>`),
      "request",
    ],
    ["a film", svg(`<video ${XHTML} src="${elsewhere}/film" autoplay=""/>`), "request"],
    ["a sound", svg(`<audio ${XHTML} src="${elsewhere}/sound" autoplay=""/>`), "request"],
    ["a new address", svg(`<meta ${XHTML} http-equiv="refresh" content="0;url=${elsewhere}/"/>`), "request"],
    ["a base of HTML", svg(`<base ${XHTML} href="${elsewhere}/"/><image ${sized} href="x.png"/>`), "request"],
    ["a colour profile", svg(`<color-profile name="c" xlink:href="${elsewhere}/c.icc"/>`)],
    ["a cursor element", svg(`<cursor id="c" xlink:href="${picture}"/><g cursor="url(#c)">${SQUARE}</g>`)],
    [
      "a glyph of another file",
      svg(
        `<font-face><font-face-src><font-face-uri xlink:href="${elsewhere}/f.svg"/></font-face-src></font-face>`,
      ),
    ],
  ];
}

function documents(elsewhere: string): AttackRow[] {
  return [
    ["a DTD", svg(SQUARE, "", `<!DOCTYPE svg SYSTEM "${elsewhere}/x.dtd">`)],
    ["a public DTD", svg(SQUARE, "", `<!DOCTYPE svg PUBLIC "x" "${elsewhere}/x.dtd">`)],
    [
      "an external entity",
      svg("<text>&x;</text>", "", `<!DOCTYPE svg [<!ENTITY x SYSTEM "${elsewhere}/x">]>`),
    ],
    [
      "a public entity",
      svg("<text>&x;</text>", "", `<!DOCTYPE svg [<!ENTITY x PUBLIC "p" "${elsewhere}/x">]>`),
    ],
    ["a parameter entity", svg(SQUARE, "", `<!DOCTYPE svg [<!ENTITY % x SYSTEM "${elsewhere}/x"> %x;]>`)],
    [
      "an inclusion",
      svg(`<x:include xmlns:x="http://www.w3.org/2001/XInclude" href="${elsewhere}/x" parse="text"/>`),
    ],
    [
      "a schema",
      svg(
        SQUARE,
        `xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:schemaLocation="a ${elsewhere}/x.xsd"`,
      ),
    ],
    [
      "an article in foreignObject",
      svg(
        `<switch><foreignObject width="9" height="9"><img ${XHTML} src="${elsewhere}/a.png"/></foreignObject>${SQUARE}</switch>`,
      ),
      "request",
    ],
  ];
}
