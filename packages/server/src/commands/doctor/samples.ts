import type { OriginalType } from "@outrigger/core/images";

/** A picture that every renderer can read. */
export interface Sample {
  /** The common name of the type. */
  name: string;
  type: OriginalType;
  bytes: Buffer;
}

const PDF = [
  "%PDF-1.4",
  "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj",
  "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj",
  "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 4 4]>>endobj",
  "xref",
  "0 4",
  "0000000000 65535 f ",
  "0000000009 00000 n ",
  "0000000052 00000 n ",
  "0000000101 00000 n ",
  "trailer<</Size 4/Root 1 0 R>>",
  "startxref",
  "160",
  "%%EOF",
].join("\n");

/** Plain squares with sides of 4 px; the PDF has one page of 4 pt. */
export const samples: readonly Sample[] = [
  {
    name: "PNG",
    type: "image/png",
    bytes: fromBase64(
      "iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAIAAAAmkwkpAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAEElEQVQImWMwTpsJRwzEcQDrIxMhLoLC",
      "bgAAAABJRU5ErkJggg==",
    ),
  },
  {
    name: "JPEG",
    type: "image/jpeg",
    bytes: fromBase64(
      "/9j/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgV",
      "GC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wAARCAAEAAQDASIAAhEBAxEB/8QA",
      "FQABAQAAAAAAAAAAAAAAAAAAAAX/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAABAX/xAAUEQEAAAAAAAAAAAAA",
      "AAAAAAAA/9oADAMBAAIRAxEAPwCaAoAv/9k=",
    ),
  },
  {
    name: "GIF",
    type: "image/gif",
    bytes: fromBase64("R0lGODlhBAAEAIAAAExpcTNmmSH5BAUAAAAALAAAAAAEAAQAAAIEjI8ZBQA7"),
  },
  {
    name: "SVG",
    type: "image/svg+xml",
    bytes: Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><rect width="4" height="4"/></svg>',
    ),
  },
  {
    name: "PSD",
    type: "image/x-photoshop",
    bytes: fromBase64(
      "OEJQUwABAAAAAAAAAAMAAAAEAAAABAAIAAMAAAAAAAAAAAAAAAAAADMzMzMz",
      "MzMzMzMzMzMzMzNmZmZmZmZmZmZmZmZmZmZmmZmZmZmZmZmZmZmZmZmZmQ==",
    ),
  },
  { name: "PDF", type: "application/pdf", bytes: Buffer.from(PDF) },
];

function fromBase64(...lines: string[]): Buffer {
  return Buffer.from(lines.join(""), "base64");
}
