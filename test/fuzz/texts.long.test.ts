import { isServiceError } from "@outrigger/core";
import { expect, test } from "vitest";
import { nameOtherKind, sniffConvertible } from "../../packages/core/src/images/record/other-kinds.ts";
import { sniffType } from "../../packages/core/src/images/record/sniff.ts";
import { parseMediaType } from "../../packages/node/src/incoming.ts";
import { PartHeads } from "../../packages/node/src/upload/part-heads.ts";
import { readSitemap } from "../../packages/page-index/src/crawl/sitemap.ts";
import { decodePage } from "../../packages/page-index/src/extract/decode-page.ts";
import { readPage } from "../../packages/page-index/src/extract/read-page.ts";
import { newsIn } from "../../packages/sql/test/news-in.ts";
import { type Syntax, split } from "../hostile/mutations.ts";
import type { Random } from "../hostile/random.ts";
import { endIfHanging, fuzz } from "./fuzz.ts";

endIfHanging();

const MULTIPART: Syntax = {
  tokens: [
    ...[
      "\r\n--X\r\n",
      "\r\n--X--\r\n",
      "--X \t\r\n",
      "--X",
      "\r\n\r\n",
      "\r",
      "\n",
      "\0",
      "\xff\xfe",
      "\xc3",
    ],
    ...[
      '; filename="b.svg"',
      "; filename*=UTF-8''%F0%9F",
      "; filename*=iso-8859-1'en'%E9",
      '; name="__proto__"',
      "\\",
    ],
    ...[
      "Content-Disposition: form-data; name=x\r\n",
      "Content-Type: text/plain; charset=utf-16\r\n",
      "\r\n\t",
    ],
  ],
  marks: ["\r\n", "--X", '"', ":", ";", "="],
};
const TABLE: Syntax = {
  tokens: [
    '"',
    '""',
    ",",
    ";",
    "\t",
    "\r",
    "\n",
    "\r\n",
    "\0",
    "\ufeff",
    "=1+1",
    "a@acme.example",
    "\xff\xfe",
    "sep=;\n",
    "email",
    "'",
  ],
  marks: ['"', ",", ";", "\n", "@"],
};
const CARD: Syntax = {
  tokens: [
    ...[
      "BEGIN:VCARD\n",
      "END:VCARD\n",
      "\n ",
      "\r\n\t",
      "=\r\n",
      ";ENCODING=QUOTED-PRINTABLE:",
      ";CHARSET=",
      "=C3=A9",
      "\\n",
      "\\;",
      ";;",
    ],
    ...["EMAIL;TYPE=work:", "item1.EMAIL:", "N:", "ORG:", "TEL:", "\0"],
  ],
  marks: [":", ";", "\n", "="],
};
const PAGE: Syntax = {
  tokens: [
    ...[
      "<a href='mailto:x@acme.example'>",
      "<a href='javascript:alert(1)'>",
      "<a href='data:text/html,x'>",
      "<base href='http://evil.example/'>",
    ],
    ...[
      "<table>",
      "</table>",
      "<script>",
      "</script>",
      "<!--",
      "-->",
      "<template>",
      "<svg>",
      "<plaintext>",
      "<meta name=robots content=noindex>",
    ],
    ...[
      "&#64;",
      "&#x110000;",
      "&commat;",
      " [at] ",
      " (dot) ",
      "@",
      "x@acme.example",
      "\u202e",
      "\0",
      "\xff",
      "<loc>",
      "<![CDATA[",
      '{"@type":"Person","email":"',
      "\\u0000",
    ],
    ...["a@".repeat(50), "(".repeat(60), "<div>".repeat(60)],
  ],
  marks: ["<", ">", "@", "&", '"', "href", "{"],
};

/** What a call returns, or how it refuses. Every error but `isRefusal` is a defect. */
function outcomeOf<T>(
  call: () => T,
  isRefusal: (error: unknown) => boolean,
): { value: T } | { refused: string } {
  try {
    return { value: call() };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { refused: String(error) };
  }
}

const isBadRequest = (error: unknown) => isServiceError(error, "bad_request");

test("a multipart body is read alike in whatever pieces it arrives, and refused with a reason", async () => {
  await fuzz({
    ...{ corpus: "multipart", runs: 5000, syntax: MULTIPART, outcomes: ["read", "refused"] },
    check(bytes, random) {
      const read = (pieces: readonly Buffer[]) =>
        outcomeOf(() => {
          const heads: unknown[] = [];
          const reader = new PartHeads("X", 64, (head) => heads.push(head && { ...head }) > 0);
          const written = pieces.flatMap((piece) => reader.push(Buffer.from(piece)));
          for (const head of heads) parseMediaType((head as { type?: string } | null)?.type);
          return { heads, written: Buffer.concat(written).toString("latin1") };
        }, isBadRequest);
      const whole = read([bytes]);
      const inPieces = read(split(bytes, random));
      // A reader in pieces may have passed on more before it refuses.
      if ("refused" in whole) expect(inPieces).toHaveProperty("refused");
      else expect(inPieces).toEqual(whole);
      return "refused" in whole ? "refused" : "read";
    },
  });
});

test("the type of any file is found without an error, and a raster has the signature of its type", async () => {
  const signatures = {
    "image/png": "\x89PNG\r\n\x1a\n",
    "image/jpeg": "\xff\xd8\xff",
    "image/gif": "GIF8",
    "image/x-photoshop": "8BPS",
  };
  for (const corpus of ["png", "jpeg", "gif", "psd", "pdf", "svg", "html"]) {
    await fuzz({
      ...{ corpus, runs: 1000, syntax: PAGE, outcomes: [] },
      check(bytes) {
        const head = bytes.subarray(0, 4096);
        sniffConvertible(head);
        nameOtherKind(head);
        const type = sniffType(head);
        const signature = signatures[type as keyof typeof signatures];
        if (signature !== undefined) expect(head.toString("latin1", 0, signature.length)).toBe(signature);
        for (const declared of ["image/svg+xml", "application/pdf"] as const)
          expect([type, declared, null]).toContain(sniffType(head, declared));
        return type ?? "unknown";
      },
    });
  }
});

/** What no terminal, page or database should get. */
const CONTROL = /(?![\t\r\n])[\p{Cc}\p{Cs}]/u;

test.each([
  ["csv", TABLE],
  ["vcard", CARD],
] as const)(
  "a damaged file of contacts (%s) is imported in part or refused, and its values are clean",
  async (corpus, syntax) => {
    await fuzz({
      ...{ corpus, runs: 800, syntax, outcomes: ["imported"] },
      async check(bytes: Buffer, random: Random) {
        const read = (pieceBytes?: number) =>
          newsIn(bytes, undefined, {}, undefined, pieceBytes).catch((error) => {
            if (!isBadRequest(error)) throw error;
            return null;
          });
        const whole = await read();
        if (whole === null) return "refused";
        for (const { address, firstName, lastName, organization, position } of whole.news) {
          if (address !== null) expect(address).toMatch(/^[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+$/u);
          for (const value of [firstName, lastName, organization, position])
            expect(value ?? "").not.toMatch(CONTROL);
        }
        // The header is in the first piece.
        if (corpus !== "csv") expect(await read(400 + random.below(400))).toEqual(whole);
        return whole.news.length > 0 ? "imported" : "empty";
      },
    });
  },
);

test("a damaged page gives addresses of its domain only, and links to http(s) only", async () => {
  await fuzz({
    ...{ corpus: "html", runs: 1500, syntax: PAGE, outcomes: ["found"] },
    async check(bytes) {
      const html = decodePage(bytes, "text/html");
      const url = new URL("https://acme.example/team");
      const page = readPage(html, { url, domain: "acme.example" });
      for (const { address, firstName, lastName } of page.contacts) {
        expect(address).toMatch(/^[^\s@<>]+@(?:[a-z\d-]+\.)*acme\.example$/u);
        for (const value of [firstName, lastName]) expect(value ?? "").not.toMatch(CONTROL);
      }
      for (const link of page.links) expect(link.url.protocol).toMatch(/^https?:$/);
      expect(page.url.hostname).toMatch(/^(?:.+\.)?acme\.example$/);
      for await (const found of readSitemap(bytes, "acme.example", 0))
        expect(found.length).toBeLessThanOrEqual(500);
      return page.contacts.length > 0 ? "found" : "nothing";
    },
  });
});
