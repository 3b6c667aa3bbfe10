import { isServiceError } from "@outrigger/core";
import { sniffType } from "@outrigger/core/values";
import { SaxesParser } from "saxes";
import { expect, test } from "vitest";
import { cleanSvg } from "../../packages/imaging/src/worker/svg/clean-svg.ts";
import type { Syntax } from "../hostile/mutations.ts";
import { endIfHanging, fuzz } from "./fuzz.ts";

endIfHanging();

const SVG: Syntax = {
  tokens: [
    ...[
      "<script>alert(1)</script>",
      "<script ",
      ' onload="alert(1)"',
      ' href="javascript:alert(1)"',
      ' href="http://evil.example/"',
    ],
    ...[
      ' style="fill:url(http://evil.example/#a)"',
      "@import url(//evil.example/a.css);",
      "url(",
      "expression(1)",
      "\\75rl(//evil.example)",
    ],
    ...[
      "<!--",
      "-->",
      "<![CDATA[",
      "]]>",
      "<!DOCTYPE svg [<!ENTITY a '&b;'>]>",
      "&a;",
      "&#x6a;",
      "&#0;",
      "&lt;script&gt;",
      "<?xml-stylesheet href='//evil.example/a'?>",
    ],
    ...[
      "<foreignObject>",
      "<style>",
      "</style>",
      "</g>",
      "<image href='data:image/svg+xml,%3Cscript/%3E'/>",
      "<use href='//evil.example/a#b'/>",
      "<animate attributeName='href' to='javascript:1'/>",
    ],
    ...[
      "\0",
      "\ufeff",
      "\ud800",
      'xmlns:x="http://www.w3.org/1999/xhtml"',
      "xlink:",
      "xml:base='//evil.example/'",
      "'",
      '"',
      ">",
      "/",
    ],
  ],
  marks: ["<", ">", '"', "=", "&", "url(", "{", "href"],
};

/** What a cleaned drawing may never have: the names of elements that run, attributes that do, and addresses that load. */
function faultsIn(text: string): string[] {
  const faults: string[] = [];
  const parser = new SaxesParser({ xmlns: true });
  parser.on("error", (error) => faults.push(error.message));
  parser.on("comment", () => faults.push("a comment"));
  parser.on("processinginstruction", () => faults.push("an instruction"));
  parser.on("doctype", () => faults.push("a DOCTYPE"));
  parser.on("opentag", ({ local, uri, attributes }) => {
    if (uri !== "http://www.w3.org/2000/svg") faults.push(`<${local}> of ${uri}`);
    if (/^(?:script|foreignObject|iframe|handler|listener|metadata)$/i.test(local)) faults.push(`<${local}>`);
    for (const { local: name, prefix, value } of Object.values(attributes)) {
      if (/^on/i.test(name)) faults.push(name);
      const isAnimated =
        /^(?:to|from|by|values)$/.test(name) && /href|src/i.test(attributes.attributeName?.value ?? "");
      const isAddress = (isAnimated || /^(?:href|src|base)$/.test(name)) && prefix !== "xmlns";
      const loads = isAddress
        ? /(?:^|;)\s*(?:https?:|javascript:|\/\/)/i
        : /url\(\s*["']?(?!#|data:)|javascript:/i;
      if (loads.test(value)) faults.push(`${name}=${value}`);
    }
  });
  parser.write(text).close();
  return faults;
}

test("a damaged SVG is cleaned or refused: nothing runs, loads or tells of a person, and a clean one stays as it is", async () => {
  await fuzz({
    ...{ corpus: "svg", runs: 4000, syntax: SVG, outcomes: ["cleaned", "refused"] },
    check(bytes) {
      try {
        const clean = cleanSvg(bytes);
        const text = clean.toString();
        expect(faultsIn(text)).toEqual([]);
        for (const style of text.match(/<style>[^<]*/g) ?? [])
          expect(style).not.toMatch(/@import|https?:|\/\//i);
        expect(cleanSvg(clean).equals(clean), `cleaned twice: ${text}`).toBe(true);
        expect(sniffType(bytes.subarray(0, 4096), "image/svg+xml")).toBe("image/svg+xml");
        return "cleaned";
      } catch (error) {
        if (isServiceError(error, "unsupported_media")) return "refused";
        throw error;
      }
    },
  });
});
