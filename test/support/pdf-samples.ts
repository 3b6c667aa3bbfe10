/** An object of a sample PDF: its text, or a stream. */
export type SampleObject = string | { dictionary?: string; data: string | Buffer };

/** What a page of {@link samplePdf} has besides its content. */
export interface SamplePage {
  /** The content stream. @default an empty page */
  content?: string | Buffer;
  /** Entries of its dictionary, such as its MediaBox. */
  entries?: string;
  /** Entries of its resources. */
  resources?: string;
}

/** Where the objects of a {@link samplePdf} lie that pages refer to. */
const FIRST_PAGE_NUMBER = 3;

/** A well-formed PDF of these objects, numbered from 1; the first is the catalogue. */
export function pdfOfObjects(objects: readonly SampleObject[], trailer = ""): Buffer {
  const parts: Buffer[] = [Buffer.from("%PDF-1.7\n")];
  let length = 9;
  const offsets = objects.map((object, index) => {
    const offset = length;
    const lines = [Buffer.from(`${index + 1} 0 obj\n`), ...bodyOf(object), Buffer.from("\nendobj\n")];
    for (const line of lines) length += line.length;
    parts.push(...lines);
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const size = objects.length + 1;
  const end =
    `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join("")}` +
    `trailer\n<</Size ${size}/Root 1 0 R${trailer}>>\nstartxref\n${length}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(end)]);
}

function bodyOf(object: SampleObject): Buffer[] {
  if (typeof object === "string") return [Buffer.from(object, "latin1")];
  const { dictionary = "", data } = object;
  const bytes = typeof data === "string" ? Buffer.from(data, "latin1") : data;
  const head = `<<${dictionary}/Length ${bytes.length}>>\nstream\n`;
  return [Buffer.from(head, "latin1"), bytes, Buffer.from("\nendstream")];
}

/**
 * A PDF of these pages, each 60 by 40 points unless its entries say otherwise. Objects for them to refer to are
 * numbered from {@link firstObjectOf} on.
 * @param options.catalogue Entries of the catalogue.
 */
export function samplePdf(
  pages: readonly SamplePage[],
  objects: readonly SampleObject[] = [],
  { catalogue = "", trailer = "" } = {},
): Buffer {
  const kids = pages.map((_, index) => `${FIRST_PAGE_NUMBER + 2 * index} 0 R`);
  return pdfOfObjects(
    [
      `<</Type/Catalog/Pages 2 0 R${catalogue}>>`,
      `<</Type/Pages/Kids[${kids.join(" ")}]/Count ${pages.length}/MediaBox[0 0 60 40]>>`,
      ...pages.flatMap(({ content = "", entries = "", resources = "" }, index): SampleObject[] => [
        `<</Type/Page/Parent 2 0 R/Contents ${FIRST_PAGE_NUMBER + 2 * index + 1} 0 R/Resources<<${resources}>>${entries}>>`,
        { data: content },
      ]),
      ...objects,
    ],
    trailer,
  );
}

/** The number of the first object that is given to a {@link samplePdf} of so many pages. */
export function firstObjectOf(pageCount: number): number {
  return FIRST_PAGE_NUMBER + 2 * pageCount;
}

/** Content that fills the four quarters of a page of 60 by 40 points: clockwise from the upper left red, green, blue, yellow. */
export const QUARTERS =
  "1 0 0 rg 0 20 30 20 re f 0 1 0 rg 30 20 30 20 re f 0 0 1 rg 30 0 30 20 re f 1 1 0 rg 0 0 30 20 re f";

/** A red page of 30 by 20 points, encrypted (AES, 128 bits) with the password "secret" to open it. */
export const encryptedPdf = Buffer.from(
  `
    JVBERi0xLjcKJb/3ov4KMSAwIG9iago8PCAvUGFnZXMgMiAwIFIgL1R5cGUgL0NhdGFsb2cgPj4KZW5kb2JqCjIgMCBvYmoKPDwg
    L0NvdW50IDEgL0tpZHMgWyAzIDAgUiBdIC9UeXBlIC9QYWdlcyA+PgplbmRvYmoKMyAwIG9iago8PCAvQ29udGVudHMgNCAwIFIg
    L01lZGlhQm94IFsgMCAwIDMwIDIwIF0gL1BhcmVudCAyIDAgUiAvVHlwZSAvUGFnZSA+PgplbmRvYmoKNCAwIG9iago8PCAvTGVu
    Z3RoIDQ4IC9GaWx0ZXIgL0ZsYXRlRGVjb2RlID4+CnN0cmVhbQrdXynRZ3kI3qStyFQSM1ShMtQP8E/evLc9zAll7ubuu6eQs9VW
    MpkKTOPyKNGPgPdlbmRzdHJlYW0KZW5kb2JqCjUgMCBvYmoKPDwgL0NGIDw8IC9TdGRDRiA8PCAvQXV0aEV2ZW50IC9Eb2NPcGVu
    IC9DRk0gL0FFU1YyIC9MZW5ndGggMTYgPj4gPj4gL0ZpbHRlciAvU3RhbmRhcmQgL0xlbmd0aCAxMjggL08gPDBkYjU4NTVmYzUz
    MjY1NjllNzY1OTA2Y2FmNjRlNDQyOWE0YzIwZDZlOTk2ZmRlZjk2M2U5YjUwODBmOWUwODM+IC9QIC00IC9SIDQgL1N0bUYgL1N0
    ZENGIC9TdHJGIC9TdGRDRiAvVSA8ZWExMzNmNDIxYjI3NTNlMjE0MWQ0YzQ4ODBlZmVjNGMwMTIyNDU2YTkxYmFlNTEzNDI3M2E2
    ZGIxMzRjODdjND4gL1YgNCA+PgplbmRvYmoKeHJlZgowIDYKMDAwMDAwMDAwMCA2NTUzNSBmIAowMDAwMDAwMDE1IDAwMDAwIG4g
    CjAwMDAwMDAwNjQgMDAwMDAgbiAKMDAwMDAwMDEyMyAwMDAwMCBuIAowMDAwMDAwMjEwIDAwMDAwIG4gCjAwMDAwMDAzMjggMDAw
    MDAgbiAKdHJhaWxlciA8PCAvUm9vdCAxIDAgUiAvU2l6ZSA2IC9JRCBbPDA2OTRiNDlhYWQ0MmI2NmRiNmFlOTk1OWNmOGU5NzNm
    PjwwNjk0YjQ5YWFkNDJiNjZkYjZhZTk5NTljZjhlOTczZj5dIC9FbmNyeXB0IDUgMCBSID4+CnN0YXJ0eHJlZgo2MjcKJSVFT0YK
  `,
  "base64",
);

/** The same, but with a password only for its owner: anybody may open it, and do nothing but look at it. */
export const restrictedPdf = Buffer.from(
  `
    JVBERi0xLjcKJb/3ov4KMSAwIG9iago8PCAvUGFnZXMgMiAwIFIgL1R5cGUgL0NhdGFsb2cgPj4KZW5kb2JqCjIgMCBvYmoKPDwg
    L0NvdW50IDEgL0tpZHMgWyAzIDAgUiBdIC9UeXBlIC9QYWdlcyA+PgplbmRvYmoKMyAwIG9iago8PCAvQ29udGVudHMgNCAwIFIg
    L01lZGlhQm94IFsgMCAwIDMwIDIwIF0gL1BhcmVudCAyIDAgUiAvVHlwZSAvUGFnZSA+PgplbmRvYmoKNCAwIG9iago8PCAvTGVu
    Z3RoIDQ4IC9GaWx0ZXIgL0ZsYXRlRGVjb2RlID4+CnN0cmVhbQod0FRdrUcs/ggm7PAm6QT14qgLScGTQXj4gho7UB5QK8SQ525W
    zOwUFE6dGEYIL/BlbmRzdHJlYW0KZW5kb2JqCjUgMCBvYmoKPDwgL0NGIDw8IC9TdGRDRiA8PCAvQXV0aEV2ZW50IC9Eb2NPcGVu
    IC9DRk0gL0FFU1YyIC9MZW5ndGggMTYgPj4gPj4gL0ZpbHRlciAvU3RhbmRhcmQgL0xlbmd0aCAxMjggL08gPDU2NmZhODczZWUz
    M2M3OTdjZDNiOTA0ZmRhZGY4MTRhZmEzNGRmOWEzOGY2ZWQ0MWI5ODRlMmM2ZGEyYWE2ZjU+IC9QIC0zMzc2IC9SIDQgL1N0bUYg
    L1N0ZENGIC9TdHJGIC9TdGRDRiAvVSA8OTg1Y2I0YzA0NzA5YTMzY2E3YTJlYjZlZDRlYTc0NDcwMTIyNDU2YTkxYmFlNTEzNDI3
    M2E2ZGIxMzRjODdjND4gL1YgNCA+PgplbmRvYmoKeHJlZgowIDYKMDAwMDAwMDAwMCA2NTUzNSBmIAowMDAwMDAwMDE1IDAwMDAw
    IG4gCjAwMDAwMDAwNjQgMDAwMDAgbiAKMDAwMDAwMDEyMyAwMDAwMCBuIAowMDAwMDAwMjEwIDAwMDAwIG4gCjAwMDAwMDAzMjgg
    MDAwMDAgbiAKdHJhaWxlciA8PCAvUm9vdCAxIDAgUiAvU2l6ZSA2IC9JRCBbPDUxMTgxNTAyYmVlZDIwYTlkZjM4Nzg3ZmVhZWY3
    NGQyPjw1MTE4MTUwMmJlZWQyMGE5ZGYzODc4N2ZlYWVmNzRkMj5dIC9FbmNyeXB0IDUgMCBSID4+CnN0YXJ0eHJlZgo2MzAKJSVF
    T0YK
  `,
  "base64",
);
