import { type Attack, type Means, SQUARE, svg, XHTML } from "./attack.ts";

/** SVGs whose style sheets and properties try to load resources from elsewhere. */
export function styleAttacks({ elsewhere }: Means): Attack[] {
  return [...stylesheets(elsewhere), ...values(elsewhere)];
}

function stylesheets(elsewhere: string): Attack[] {
  const sheet = (css: string): string => svg(`<style>${css}</style>${SQUARE}<text y="50">x</text>`);
  const picture = `${elsewhere}/picture.png`;
  const imported = `${elsewhere}/sheet.css`;
  return [
    { title: "@import", svg: sheet(`@import url("${imported}");`), does: "request" },
    { title: "@import without quotes", svg: sheet(`@import url(${imported});`), does: "request" },
    { title: "@import of a string", svg: sheet(`@import '${imported}'`), does: "request" },
    { title: "@import in capitals", svg: sheet(`@IMPORT url(${imported});`), does: "request" },
    { title: "@import with an escape", svg: sheet(`@\\69mport "${imported}";`), does: "request" },
    { title: "@import after a comment", svg: sheet(`/*x*/@import/*x*/"${imported}";`), does: "request" },
    {
      title: "@import after @charset",
      svg: sheet(`@charset "utf-8";@import url(${imported});`),
      does: "request",
    },
    {
      title: "@import after @layer",
      svg: sheet(`@layer a;@import url(${imported}) layer(a);`),
      does: "request",
    },
    { title: "@import in CDATA", svg: sheet(`<![CDATA[@import url(${imported});]]>`), does: "request" },
    { title: "@import in pieces", svg: sheet(`@imp<![CDATA[ort ur]]>l(${imported});`), does: "request" },
    { title: "@import in references", svg: sheet(`&#64;import url(${imported});`), does: "request" },
    {
      title: "@import after comment delimiters",
      svg: sheet(`&lt;!-- @import url(${imported}); --&gt;`),
      does: "request",
    },
    { title: "@import after a broken string", svg: sheet(`a{content:'x\n}@import url(${imported});`) },
    { title: "@import after a dropped rule", svg: sheet(`@foo;@import url(${imported});`), does: "request" },
    {
      title: "@import of XHTML's style",
      svg: svg(`<style ${XHTML}>@import url(${imported});</style>`),
      does: "request",
    },
    {
      title: "@import of another namespace's style",
      svg: svg(`<x:style xmlns:x="urn:x">@import url(${imported});</x:style>`),
    },
    {
      title: "@font-face",
      svg: sheet(`@font-face{font-family:x;src:url(${elsewhere}/font.woff)}text{font-family:x}`),
      does: "request",
    },
    { title: "@namespace", svg: sheet(`@namespace url(${elsewhere}/ns);`) },
    {
      title: "an address in @media",
      svg: sheet(`@media all{rect{mask-image:url(${picture})}}`),
      does: "request",
    },
    {
      title: "an address in @supports",
      svg: sheet(`@supports (x:y) or (fill:red){rect{mask-image:url(${picture})}}`),
      does: "request",
    },
    {
      title: "an address in @keyframes",
      svg: sheet(`@keyframes k{0%{mask-image:url(${picture})}}rect{animation:k 9s}`),
      does: "request",
    },
    {
      title: "an address in a nested rule",
      svg: sheet(`svg{&amp; rect{mask-image:url(${picture})}}`),
      does: "request",
    },
    {
      title: "an address in a variable",
      svg: sheet(`svg{--x:url(${picture})}rect{mask-image:var(--x)}`),
      does: "request",
    },
    {
      title: "an address behind an escaped function of a selector",
      svg: sheet(`\\75rl(["')"]){fill:red}a{font-family:"{}rect{mask-image:url(${picture})}x{"}`),
      does: "request",
    },
    {
      title: "an address behind an unfinished comment",
      svg: sheet(`rect{fill:red;/*}rect{mask-image:url(${picture})}`),
    },
    {
      title: "an address behind an escaped quote",
      svg: sheet(`rect{font-family:'\\'}rect{mask-image:url(${picture})}';}`),
    },
    {
      title: "a style sheet of an instruction",
      svg: svg(SQUARE, "", `<?xml-stylesheet href="${imported}" type="text/css"?>`),
      does: "request",
    },
    {
      title: "a style sheet of an instruction within",
      svg: svg(`<?xml-stylesheet href="${imported}" type="text/css"?>${SQUARE}`),
    },
    {
      title: "a style sheet of a link",
      svg: svg(`<link ${XHTML} rel="stylesheet" href="${imported}"/>`),
      does: "request",
    },
  ];
}

function values(elsewhere: string): Attack[] {
  const picture = `${elsewhere}/picture.png`;
  const styled = (style: string): string =>
    svg(`<rect width="100" height="100" fill="#cde" style="${style}"/>`);
  const shown = (attribute: string): string => svg(`<rect width="100" height="100" ${attribute}/>`);
  const drawing = `${elsewhere}/drawing.svg#x`;
  return [
    { title: "a mask image", svg: styled(`mask-image:url(${picture})`), does: "request" },
    { title: "a mask image in quotes", svg: styled(`mask-image:url('${picture}')`), does: "request" },
    { title: "a mask image in capitals", svg: styled(`mask-image:URL( ${picture} )`), does: "request" },
    { title: "a mask image with an escape", svg: styled(`mask-image:\\75rl(${picture})`), does: "request" },
    {
      title: "a mask image with a long escape",
      svg: styled(`mask-image:u\\000072 l(${picture})`),
      does: "request",
    },
    { title: "a mask image that begins with a hash's escape", svg: styled(`mask-image:url(\\23 x)`) },
    {
      title: "a mask image after a comment",
      svg: styled(`mask-image:/*x*/url(${picture})`),
      does: "request",
    },
    {
      title: "a mask image in image-set",
      svg: styled(`mask-image:image-set('${picture}' 1x)`),
      does: "request",
    },
    {
      title: "a mask image in -webkit-image-set",
      svg: styled(`mask-image:-webkit-image-set(url(${picture}) 1x)`),
      does: "request",
    },
    {
      title: "a mask image in cross-fade",
      svg: styled(`mask-image:-webkit-cross-fade(url(${picture}),url(${picture}),50%)`),
      does: "request",
    },
    { title: "a mask image in image", svg: styled(`mask-image:image('${picture}')`) },
    { title: "a mask image in src", svg: styled(`mask-image:src('${picture}')`) },
    { title: "a mask image of an attribute", svg: styled(`mask-image:attr(data-x type(&lt;url&gt;))`) },
    { title: "a background", svg: svg(SQUARE, `style="background:url(${picture})"`), does: "request" },
    {
      title: "a list style",
      svg: svg(SQUARE, `style="display:list-item;list-style-image:url(${picture})"`),
      does: "request",
    },
    { title: "a cursor", svg: styled(`cursor:url(${picture}),auto`), does: "request" },
    { title: "a cursor of an attribute", svg: shown(`cursor="url(${picture}), auto"`), does: "request" },
    { title: "a fill", svg: shown(`fill="url(${drawing})"`), does: "request" },
    {
      title: "a fill without a scheme",
      svg: shown(`fill="url(//${elsewhere.slice(7)}/d.svg#x)"`),
      does: "request",
    },
    { title: "a fill with an escape", svg: shown(`fill="\\75rl(${drawing})"`), does: "request" },
    { title: "a fill with a fallback", svg: shown(`fill="url(#x) url(${drawing})"`) },
    { title: "a stroke", svg: shown(`stroke="url('${drawing}')"`), does: "request" },
    { title: "a filter", svg: shown(`filter="url(${drawing})"`), does: "request" },
    { title: "a filter among others", svg: shown(`filter="blur(1px) url(${drawing})"`), does: "request" },
    { title: "a mask", svg: shown(`mask="url(${drawing})"`), does: "request" },
    { title: "a clip path", svg: shown(`clip-path="url(${drawing})"`), does: "request" },
    {
      title: "a marker",
      svg: svg(`<path d="M0 0h9" marker-end="url(${drawing})" style="marker-start:url(${drawing})"/>`),
      does: "request",
    },
    {
      title: "a filter that is set",
      svg: svg(`<rect width="9" height="9"><set attributeName="filter" to="url(${drawing})"/></rect>`),
      does: "request",
    },
    {
      title: "a filter that is animated",
      svg: svg(
        `<rect width="9" height="9"><animate attributeName="filter" values="none;url(${drawing})" dur="1s" fill="freeze"/></rect>`,
      ),
    },
    {
      title: "a style that is set",
      svg: svg(`<rect width="9" height="9"><set attributeName="style" to="filter:url(${drawing})"/></rect>`),
    },
    {
      title: "a filter of Internet Explorer",
      svg: styled(`filter:progid:DXImageTransform.Microsoft.AlphaImageLoader(src='${picture}')`),
    },
    {
      title: "an address of an unfinished function",
      svg: styled(`mask-image:url(${picture}`),
      does: "request",
    },
  ];
}
