import { type Attack, dataUri, type Means, NAMES, SQUARE, svg, XHTML } from "./attack.ts";

/** SVGs whose elements and prologs try to load resources from elsewhere. */
export function reachingAttacks({ elsewhere }: Means): Attack[] {
  return [...references(elsewhere), ...documents(elsewhere)];
}

function references(elsewhere: string): Attack[] {
  const picture = `${elsewhere}/picture.png`;
  const sized = 'width="100" height="100"';
  return [
    { title: "an image", svg: svg(`<image ${sized} href="${picture}"/>`), does: "request" },
    { title: "an image by xlink", svg: svg(`<image ${sized} xlink:href="${picture}"/>`), does: "request" },
    {
      title: "an image by another prefix",
      svg: svg(`<image ${sized} xmlns:q="http://www.w3.org/1999/xlink" q:href="${picture}"/>`),
      does: "request",
    },
    {
      title: "an image without a scheme",
      svg: svg(`<image ${sized} href="${picture.replace("http:", "")}"/>`),
      does: "request",
    },
    { title: "an image beside the file", svg: svg(`<image ${sized} href="beside.png"/>`) },
    { title: "an image of a file", svg: svg(`<image ${sized} href="file:///etc/hostname"/>`) },
    {
      title: "an image of the document itself",
      svg: svg(`<image ${sized} href=""/><image ${sized} href="#x"/>`),
    },
    { title: "an image with srcset", svg: svg(`<image ${sized} srcset="${picture} 1x" src="${picture}"/>`) },
    {
      title: "an image that is a drawing with an image",
      svg: svg(
        `<image ${sized} href="${dataUri("image/svg+xml", `<svg ${NAMES}><image ${sized} href="${picture}"/></svg>`)}"/>`,
      ),
    },
    {
      title: "an image of a filter",
      svg: svg(`<filter id="f"><feImage href="${picture}"/></filter><rect ${sized} filter="url(#f)"/>`),
      does: "request",
    },
    {
      title: "an image that is set",
      svg: svg(`<image ${sized}><set attributeName="href" to="${picture}"/></image>`),
      does: "request",
    },
    {
      title: "an image that is animated",
      svg: svg(`<image ${sized}><animate attributeName="xlink:href" values="${picture}" dur="1s"/></image>`),
      does: "request",
    },
    { title: "a use", svg: svg(`<use href="${elsewhere}/drawing.svg#x"/>`), does: "request" },
    {
      title: "a gradient of another",
      svg: svg(`<linearGradient href="${elsewhere}/g.svg#x" id="g"/><rect ${sized} fill="url(#g)"/>`),
    },
    {
      title: "a path of a text",
      svg: svg(`<text><textPath href="${elsewhere}/p.svg#x">x</textPath></text>`),
    },
    { title: "a link out", svg: svg(`<a href="${elsewhere}/page">${SQUARE}</a>`), does: "request" },
    {
      title: "a link out by xlink",
      svg: svg(`<a xlink:href="${elsewhere}/page">${SQUARE}</a>`),
      does: "request",
    },
    { title: "a link that pings", svg: svg(`<a href="#x" ping="${elsewhere}/ping">${SQUARE}</a>`) },
    { title: "a base", svg: svg(`<image ${sized} href="picture.png"/>`, `xml:base="${elsewhere}/"`) },
    { title: "a picture of HTML", svg: svg(`<img ${XHTML} src="${picture}"/>`), does: "request" },
    {
      title: "a picture of HTML with candidates",
      svg: svg(`<foreignObject ${sized}><img ${XHTML} srcset="${picture} 1x"/></foreignObject>`),
      does: "request",
    },
    { title: "a film", svg: svg(`<video ${XHTML} src="${elsewhere}/film" autoplay=""/>`), does: "request" },
    { title: "a sound", svg: svg(`<audio ${XHTML} src="${elsewhere}/sound" autoplay=""/>`), does: "request" },
    {
      title: "a new address",
      svg: svg(`<meta ${XHTML} http-equiv="refresh" content="0;url=${elsewhere}/"/>`),
      does: "request",
    },
    {
      title: "a base of HTML",
      svg: svg(`<base ${XHTML} href="${elsewhere}/"/><image ${sized} href="x.png"/>`),
      does: "request",
    },
    { title: "a colour profile", svg: svg(`<color-profile name="c" xlink:href="${elsewhere}/c.icc"/>`) },
    {
      title: "a cursor element",
      svg: svg(`<cursor id="c" xlink:href="${picture}"/><g cursor="url(#c)">${SQUARE}</g>`),
    },
    {
      title: "a glyph of another file",
      svg: svg(
        `<font-face><font-face-src><font-face-uri xlink:href="${elsewhere}/f.svg"/></font-face-src></font-face>`,
      ),
    },
  ];
}

function documents(elsewhere: string): Attack[] {
  return [
    { title: "a DTD", svg: svg(SQUARE, "", `<!DOCTYPE svg SYSTEM "${elsewhere}/x.dtd">`) },
    { title: "a public DTD", svg: svg(SQUARE, "", `<!DOCTYPE svg PUBLIC "x" "${elsewhere}/x.dtd">`) },
    {
      title: "an external entity",
      svg: svg("<text>&x;</text>", "", `<!DOCTYPE svg [<!ENTITY x SYSTEM "${elsewhere}/x">]>`),
    },
    {
      title: "a public entity",
      svg: svg("<text>&x;</text>", "", `<!DOCTYPE svg [<!ENTITY x PUBLIC "p" "${elsewhere}/x">]>`),
    },
    {
      title: "a parameter entity",
      svg: svg(SQUARE, "", `<!DOCTYPE svg [<!ENTITY % x SYSTEM "${elsewhere}/x"> %x;]>`),
    },
    {
      title: "an inclusion",
      svg: svg(`<x:include xmlns:x="http://www.w3.org/2001/XInclude" href="${elsewhere}/x" parse="text"/>`),
    },
    {
      title: "a schema",
      svg: svg(
        SQUARE,
        `xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:schemaLocation="a ${elsewhere}/x.xsd"`,
      ),
    },
    {
      title: "an article in foreignObject",
      svg: svg(
        `<switch><foreignObject width="9" height="9"><img ${XHTML} src="${elsewhere}/a.png"/></foreignObject>${SQUARE}</switch>`,
      ),
      does: "request",
    },
  ];
}
