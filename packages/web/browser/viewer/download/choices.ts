/** A file that the page offers for download. */
export interface Choice {
  /** The same on every page of a document. */
  key: string;
  label: string;
  /** `png`, `jpg`, … */
  format: string;
  isOriginal: boolean;
  hasWidth: boolean;
  /** Addresses by quality; `""` for a format without qualities. */
  addresses: ReadonlyMap<string, string>;
}

/** Originals whose size cannot be chosen: documents and drawings, and the JPEG, of which a smaller one is a rendition. */
const FIXED_ORIGINALS = ["jpg", "svg", "pdf"];

/** The choices in the download links of the page. @param isResizable whether addresses may have a size */
export function readChoices(links: HTMLElement, isResizable: boolean): Choice[] {
  return [...links.children].map((item) => {
    const anchors = [...item.querySelectorAll("a")];
    const [first] = anchors;
    const format = new URL(first?.href ?? location.href).pathname.split(".").at(-1) ?? "";
    const isOriginal = first?.classList.contains("original") === true;
    const hasWidth = isResizable && !(isOriginal && FIXED_ORIGINALS.includes(format));
    const hasQualities = item.matches(".qualities");
    const label = item.querySelector("[aria-hidden]")?.textContent ?? first?.textContent ?? "";
    return {
      key: isOriginal ? `original ${format}` : format,
      // At another size it is not the original.
      label: hasWidth ? label.replace(" original", "") : label,
      ...{ format, isOriginal, hasWidth },
      addresses: new Map([
        ...anchors.map(({ href }) => [(hasQualities && qualityOf(href)) || "", href] as const),
        // The page signs only its own links.
        ...(hasQualities && isResizable && first ? [["auto", automatic(first.href)] as const] : []),
      ]),
    };
  });
}

function qualityOf(href: string): string | null {
  return new URL(href).searchParams.get("convert");
}

function automatic(href: string): string {
  const address = new URL(href);
  address.searchParams.set("convert", "auto");
  return address.href;
}
