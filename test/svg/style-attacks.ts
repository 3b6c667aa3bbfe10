import { type AttackRow, type Means, SQUARE, svg, XHTML } from "./attack.ts";

/** SVGs whose style sheets and properties try to load resources from elsewhere. */
export function styleAttacks({ elsewhere }: Means): AttackRow[] {
  return [...stylesheets(elsewhere), ...values(elsewhere)];
}

function stylesheets(elsewhere: string): AttackRow[] {
  const sheet = (css: string): string => svg(`<style>${css}</style>${SQUARE}<text y="50">x</text>`);
  const picture = `${elsewhere}/picture.png`;
  const imported = `${elsewhere}/sheet.css`;
  return [
    ["@import", sheet(`@import url("${imported}");`), "request"],
    ["@import without quotes", sheet(`@import url(${imported});`), "request"],
    ["@import of a string", sheet(`@import '${imported}'`), "request"],
    ["@import in capitals", sheet(`@IMPORT url(${imported});`), "request"],
    ["@import with an escape", sheet(`@\\69mport "${imported}";`), "request"],
    ["@import after a comment", sheet(`/*x*/@import/*x*/"${imported}";`), "request"],
    ["@import after @charset", sheet(`@charset "utf-8";@import url(${imported});`), "request"],
    ["@import after @layer", sheet(`@layer a;@import url(${imported}) layer(a);`), "request"],
    ["@import in CDATA", sheet(`<![CDATA[@import url(${imported});]]>`), "request"],
    ["@import in pieces", sheet(`@imp<![CDATA[ort ur]]>l(${imported});`), "request"],
    ["@import in references", sheet(`&#64;import url(${imported});`), "request"],
    ["@import after comment delimiters", sheet(`&lt;!-- @import url(${imported}); --&gt;`), "request"],
    ["@import after a broken string", sheet(`a{content:'x\n}@import url(${imported});`)],
    ["@import after a dropped rule", sheet(`@foo;@import url(${imported});`), "request"],
    ["@import of XHTML's style", svg(`<style ${XHTML}>@import url(${imported});</style>`), "request"],
    [
      "@import of another namespace's style",
      svg(`<x:style xmlns:x="urn:x">@import url(${imported});</x:style>`),
    ],
    [
      "@font-face",
      sheet(`@font-face{font-family:x;src:url(${elsewhere}/font.woff)}text{font-family:x}`),
      "request",
    ],
    ["@namespace", sheet(`@namespace url(${elsewhere}/ns);`)],
    ["an address in @media", sheet(`@media all{rect{mask-image:url(${picture})}}`), "request"],
    [
      "an address in @supports",
      sheet(`@supports (x:y) or (fill:red){rect{mask-image:url(${picture})}}`),
      "request",
    ],
    [
      "an address in @keyframes",
      sheet(`@keyframes k{0%{mask-image:url(${picture})}}rect{animation:k 9s}`),
      "request",
    ],
    ["an address in a nested rule", sheet(`svg{&amp; rect{mask-image:url(${picture})}}`), "request"],
    ["an address in a variable", sheet(`svg{--x:url(${picture})}rect{mask-image:var(--x)}`), "request"],
    [
      "an address behind an escaped function of a selector",
      sheet(`\\75rl(["')"]){fill:red}a{font-family:"{}rect{mask-image:url(${picture})}x{"}`),
      "request",
    ],
    ["an address behind an unfinished comment", sheet(`rect{fill:red;/*}rect{mask-image:url(${picture})}`)],
    [
      "an address behind an escaped quote",
      sheet(`rect{font-family:'\\'}rect{mask-image:url(${picture})}';}`),
    ],
    [
      "a style sheet of an instruction",
      svg(SQUARE, "", `<?xml-stylesheet href="${imported}" type="text/css"?>`),
      "request",
    ],
    [
      "a style sheet of an instruction within",
      svg(`<?xml-stylesheet href="${imported}" type="text/css"?>${SQUARE}`),
    ],
    ["a style sheet of a link", svg(`<link ${XHTML} rel="stylesheet" href="${imported}"/>`), "request"],
  ];
}

function values(elsewhere: string): AttackRow[] {
  const picture = `${elsewhere}/picture.png`;
  const styled = (style: string): string =>
    svg(`<rect width="100" height="100" fill="#cde" style="${style}"/>`);
  const shown = (attribute: string): string => svg(`<rect width="100" height="100" ${attribute}/>`);
  const drawing = `${elsewhere}/drawing.svg#x`;
  return [
    ["a mask image", styled(`mask-image:url(${picture})`), "request"],
    ["a mask image in quotes", styled(`mask-image:url('${picture}')`), "request"],
    ["a mask image in capitals", styled(`mask-image:URL( ${picture} )`), "request"],
    ["a mask image with an escape", styled(`mask-image:\\75rl(${picture})`), "request"],
    ["a mask image with a long escape", styled(`mask-image:u\\000072 l(${picture})`), "request"],
    ["a mask image that begins with a hash's escape", styled(`mask-image:url(\\23 x)`)],
    ["a mask image after a comment", styled(`mask-image:/*x*/url(${picture})`), "request"],
    ["a mask image in image-set", styled(`mask-image:image-set('${picture}' 1x)`), "request"],
    [
      "a mask image in -webkit-image-set",
      styled(`mask-image:-webkit-image-set(url(${picture}) 1x)`),
      "request",
    ],
    [
      "a mask image in cross-fade",
      styled(`mask-image:-webkit-cross-fade(url(${picture}),url(${picture}),50%)`),
      "request",
    ],
    ["a mask image in image", styled(`mask-image:image('${picture}')`)],
    ["a mask image in src", styled(`mask-image:src('${picture}')`)],
    ["a mask image of an attribute", styled(`mask-image:attr(data-x type(&lt;url&gt;))`)],
    ["a background", svg(SQUARE, `style="background:url(${picture})"`), "request"],
    ["a list style", svg(SQUARE, `style="display:list-item;list-style-image:url(${picture})"`), "request"],
    ["a cursor", styled(`cursor:url(${picture}),auto`), "request"],
    ["a cursor of an attribute", shown(`cursor="url(${picture}), auto"`), "request"],
    ["a fill", shown(`fill="url(${drawing})"`), "request"],
    ["a fill without a scheme", shown(`fill="url(//${elsewhere.slice(7)}/d.svg#x)"`), "request"],
    ["a fill with an escape", shown(`fill="\\75rl(${drawing})"`), "request"],
    ["a fill with a fallback", shown(`fill="url(#x) url(${drawing})"`)],
    ["a stroke", shown(`stroke="url('${drawing}')"`), "request"],
    ["a filter", shown(`filter="url(${drawing})"`), "request"],
    ["a filter among others", shown(`filter="blur(1px) url(${drawing})"`), "request"],
    ["a mask", shown(`mask="url(${drawing})"`), "request"],
    ["a clip path", shown(`clip-path="url(${drawing})"`), "request"],
    [
      "a marker",
      svg(`<path d="M0 0h9" marker-end="url(${drawing})" style="marker-start:url(${drawing})"/>`),
      "request",
    ],
    [
      "a filter that is set",
      svg(`<rect width="9" height="9"><set attributeName="filter" to="url(${drawing})"/></rect>`),
      "request",
    ],
    [
      "a filter that is animated",
      svg(
        `<rect width="9" height="9"><animate attributeName="filter" values="none;url(${drawing})" dur="1s" fill="freeze"/></rect>`,
      ),
    ],
    [
      "a style that is set",
      svg(`<rect width="9" height="9"><set attributeName="style" to="filter:url(${drawing})"/></rect>`),
    ],
    [
      "a filter of Internet Explorer",
      styled(`filter:progid:DXImageTransform.Microsoft.AlphaImageLoader(src='${picture}')`),
    ],
    ["an address of an unfinished function", styled(`mask-image:url(${picture}`), "request"],
  ];
}
