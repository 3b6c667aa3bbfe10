import { damaged } from "../../picture.ts";
import {
  actingRoles,
  allowedActions,
  allowedAnnotations,
  allowedEntries,
  allowedNames,
  fileEntries,
  isAllowedLink,
  knownActions,
  namedEntries,
  privateEntries,
  type Role,
  rolesOfTypes,
} from "./allowed-entries.ts";
import { StreamCleaner } from "./clean-streams.ts";
import {
  PDFArray,
  PDFDict,
  PDFName,
  PDFNull,
  PDFNumber,
  type PDFObject,
  PDFRawStream,
  PDFRef,
} from "./library.ts";
import { dictionaryOf, entryOf, isText, nameOf } from "./pdf-values.ts";
import { PdfObjects, type SavedPdf } from "./saved-pdf.ts";

/** What {@link cleanDocument} leaves. */
export interface StripPdfOptions {
  /** Document information, XMP, programs' private data, authors, and metadata of pictures. @default false */
  keepMetadata?: boolean;
  /** Actions, scripts, attached files and multimedia. @default false */
  keepPdfActions?: boolean;
  /** Whatever cannot be removed, for a document that was admitted before. @default false: it is refused */
  keepUnremovable?: boolean;
}

/** Attributes that a page inherits from its ancestors (ISO 32000-1, table 30). */
const INHERITABLE = ["Resources", "MediaBox", "CropBox", "Rotate"];
/** Nodes above a page that are looked at. */
const MAX_TREE_HEIGHT = 50;

/** Writes a document anew: from its catalogue, what the allow-lists let pass, and nothing else. */
export function cleanDocument({ bytes, pages, freed }: SavedPdf, options: StripPdfOptions): Buffer {
  return new DocumentCleaner(new PdfObjects(bytes), options).clean(pages, freed);
}

class DocumentCleaner {
  readonly #objects: PdfObjects;
  readonly #options: StripPdfOptions;
  readonly #streams: StreamCleaner;
  readonly #pages = new Set<number>();
  /** The catalogue and the page tree, which have no other role. */
  readonly #roots = new Set<number>();
  readonly #judged = new Set<string>();
  readonly #waiting: [Role, number][] = [];
  /** Content of pages by the numbers of their streams. */
  readonly #contents = new Map<string, PDFRef | null>();

  constructor(objects: PdfObjects, options: StripPdfOptions) {
    this.#objects = objects;
    this.#options = options;
    this.#streams = new StreamCleaner(objects, options.keepUnremovable === true);
  }

  clean(pages: readonly number[], freed: ReadonlySet<number>): Buffer {
    const { trailer } = this.#objects;
    const [root, info] = [entryOf(trailer, "Root"), entryOf(trailer, "Info")];
    const catalogue = this.#objects.resolve(root);
    if (!(root instanceof PDFRef) || !(catalogue instanceof PDFDict)) throw damaged("it has no pages");
    // Tables that call free what a document needs are wrong.
    const isWrong = [root.objectNumber, ...pages].some((number) => freed.has(number));
    for (const number of isWrong ? [] : freed) this.#objects.remove(number);
    this.#roots.add(root.objectNumber);
    this.#flattenTree(catalogue, pages);
    this.#judge("catalog", catalogue);
    const keepsInfo = this.#options.keepMetadata === true && info instanceof PDFRef;
    if (keepsInfo) this.#visit("any", info);
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      this.#judge(next[0], this.#objects.get(next[1]));
    }
    return this.#objects.write({ Root: root, ...(keepsInfo ? { Info: info } : {}) });
  }

  /** Puts all pages directly below one node, with what they inherit. */
  #flattenTree(catalogue: PDFDict, pages: readonly number[]): void {
    const { context } = this.#objects;
    const kids = PDFArray.withContext(context);
    const tree = context.obj({ Type: "Pages", Kids: kids });
    const root = this.#objects.add(tree);
    const inherited = new Map<PDFObject, PDFObject>();
    for (const number of pages) {
      const page = this.#objects.get(number);
      if (!(page instanceof PDFDict)) continue;
      if (!this.#pages.has(number)) this.#inherit(page, inherited);
      this.#pages.add(number);
      kids.push(PDFRef.of(number));
    }
    if (kids.size() === 0) throw damaged("it has no pages");
    tree.set(PDFName.of("Count"), PDFNumber.of(kids.size()));
    for (const number of this.#pages) {
      dictionaryOf(this.#objects.get(number))?.set(PDFName.of("Parent"), root);
    }
    this.#roots.add(root.objectNumber);
    catalogue.set(PDFName.of("Pages"), root);
    for (const number of this.#pages) this.#judge("page", this.#objects.get(number));
  }

  /** Gives a page what it inherits. A value that many pages inherit becomes an object of its own. */
  #inherit(page: PDFDict, shared: Map<PDFObject, PDFObject>): void {
    let node = this.#objects.resolve(entryOf(page, "Parent"));
    for (let height = 0; node instanceof PDFDict && height < MAX_TREE_HEIGHT; height++) {
      for (const key of INHERITABLE) {
        const value = entryOf(node, key);
        if (value === undefined || page.has(PDFName.of(key))) continue;
        const isLarge = value instanceof PDFDict || value instanceof PDFArray;
        if (isLarge && !shared.has(value)) shared.set(value, this.#objects.add(value));
        page.set(PDFName.of(key), shared.get(value) ?? value);
      }
      node = this.#objects.resolve(entryOf(node, "Parent"));
    }
  }

  #visit(role: Role, value: PDFObject): void {
    if (!(value instanceof PDFRef)) {
      this.#judge(role, value);
      return;
    }
    const number = value.objectNumber;
    const job = `${role} ${number}`;
    const isDone = this.#judged.has(job) || this.#pages.has(number) || this.#roots.has(number);
    if (!isDone) this.#waiting.push([role, number]);
    this.#judged.add(job);
  }

  #judge(role: Role, value: PDFObject | undefined): void {
    if (value instanceof PDFRawStream) this.#judgeStream(role, value);
    else if (value instanceof PDFArray) {
      for (const [index, item] of value.asArray().entries()) {
        if (this.#leadsAway(item)) value.set(index, PDFNull);
        else this.#visit(role, item);
      }
    } else if (value instanceof PDFDict) this.#judgeDictionary(role, value);
  }

  #judgeDictionary(role: Role, dictionary: PDFDict): void {
    const inner = namedEntries[role];
    const typed = role === "any" ? rolesOfTypes[nameOf(entryOf(dictionary, "Type")) ?? ""] : undefined;
    if (role === "any" && this.#isForbidden(dictionary)) {
      for (const key of dictionary.keys()) dictionary.delete(key);
    } else if (inner !== undefined) {
      for (const [key, value] of dictionary.entries()) this.#enter(dictionary, key, inner, value);
    } else this.#judgeEntries(typed ?? role, dictionary);
    if ((typed ?? role) === "annotation") this.#judgeAnnotation(dictionary);
    if (role === "page") this.#cleanPage(dictionary);
  }

  #judgeEntries(role: Role, dictionary: PDFDict): void {
    const entries = allowedEntries[role];
    for (const [name, value] of dictionary.entries()) {
      const key = name.asString().slice(1);
      const allowed = entries?.get(key);
      if (allowed === undefined && !this.#keeps(role, key)) dictionary.delete(name);
      else if (allowed === "start" || allowed === "action" || allowed === "actions") {
        this.#judgeAction(dictionary, name, allowed);
      } else if (role !== "page" || (key !== "Contents" && key !== "Parent")) {
        this.#enter(dictionary, name, allowed ?? innerRoles[key] ?? "any", value);
      }
    }
  }

  #enter(dictionary: PDFDict, key: PDFName, role: Role, value: PDFObject): void {
    if (this.#leadsAway(value)) dictionary.delete(key);
    else this.#visit(role, value);
  }

  /** Whether an entry stays that no allow-list names. */
  #keeps(role: Role, key: string): boolean {
    const { keepMetadata = false, keepPdfActions = false } = this.#options;
    if (fileEntries.has(key)) return keepPdfActions;
    if (privateEntries.has(key)) return keepMetadata;
    if (allowedEntries[role] === undefined) return true;
    return actingRoles.has(role) ? keepPdfActions : keepMetadata;
  }

  /** Whether a value is a page that the document does not show, or another part of such a document. */
  #leadsAway(value: PDFObject): boolean {
    if (!(value instanceof PDFRef) || this.#pages.has(value.objectNumber)) return false;
    const target = this.#objects.get(value.objectNumber);
    if (!(target instanceof PDFDict)) return false;
    const type = nameOf(entryOf(target, "Type"));
    if (type === undefined) return target.has(PDFName.of("MediaBox"));
    return ["Page", "Template"].includes(type) || (type === "Pages" && target.has(PDFName.of("Parent")));
  }

  #judgeAction(dictionary: PDFDict, key: PDFName, allowed: "start" | "action" | "actions"): void {
    const value = dictionary.get(key) ?? PDFNull;
    const target = this.#objects.resolve(value);
    const isList = allowed === "actions";
    const role = isList ? "action" : allowed;
    // Another array is a destination.
    if (target instanceof PDFArray && !isList) {
      this.#visit("any", value);
      return;
    }
    const list = target instanceof PDFArray ? target.asArray() : [value];
    if (list.every((item) => this.#isAllowedAction(role, item))) {
      for (const item of list) this.#visit(role, item);
    } else dictionary.delete(key);
  }

  #isAllowedAction(role: "start" | "action", value: PDFObject): boolean {
    if (this.#options.keepPdfActions === true) return true;
    const action = this.#objects.resolve(value);
    if (!(action instanceof PDFDict)) return false;
    const kind = nameOf(entryOf(action, "S"));
    if (kind === undefined || !allowedActions[role].has(kind)) return false;
    if (kind === "Named") return allowedNames.has(nameOf(entryOf(action, "N")) ?? "");
    return kind !== "URI" || this.#isAllowedLink(action);
  }

  #isAllowedLink(action: PDFDict): boolean {
    const address = this.#objects.resolve(entryOf(action, "URI"));
    return isText(address) && isAllowedLink(address.decodeText());
  }

  /** Whether a dictionary is an action that may not stay, wherever it is, or a manifest that no longer fits. An element of the structure is none. */
  #isForbidden(dictionary: PDFDict): boolean {
    const { keepMetadata, keepPdfActions } = this.#options;
    const isManifest = nameOf(entryOf(dictionary, "AFRelationship")) === "C2PA_Manifest";
    if (isManifest) return keepMetadata !== true;
    const kind = nameOf(this.#objects.resolve(entryOf(dictionary, "S")));
    if (keepPdfActions === true || kind === undefined || dictionary.has(PDFName.of("P"))) return false;
    return knownActions.has(kind) || (kind === "URI" && !this.#isAllowedLink(dictionary));
  }

  #judgeAnnotation(dictionary: PDFDict): void {
    const { resolve } = this.#objects;
    const { keepMetadata, keepPdfActions } = this.#options;
    const subtype = nameOf(resolve(entryOf(dictionary, "Subtype")));
    // The value of a signature, which holds names and no longer fits.
    for (const key of ["V", "DV"]) {
      if (resolve(entryOf(dictionary, key)) instanceof PDFDict) dictionary.delete(PDFName.of(key));
    }
    const isMarkup = subtype !== undefined && subtype !== "Widget" && !dictionary.has(PDFName.of("FT"));
    if (isMarkup && keepMetadata !== true) dictionary.delete(PDFName.of("T"));
    // Readers draw the appearance of a stamp, and nothing else.
    const isKnown = subtype === undefined || allowedAnnotations.has(subtype) || keepPdfActions === true;
    if (!isKnown) dictionary.set(PDFName.of("Subtype"), PDFName.of("Stamp"));
  }

  #judgeStream(role: Role, stream: PDFRawStream): void {
    const { dict } = stream;
    const subtype = nameOf(this.#objects.resolve(entryOf(stream, "Subtype")));
    const isImage = subtype === "Image" || this.#streams.isPicture(stream);
    const isDrawing =
      ["appearance", "streams"].includes(role) || subtype === "Form" || dict.has(PDFName.of("BBox"));
    const kind = role === "content" ? role : isImage ? "image" : isDrawing ? "drawing" : "any";
    this.#judgeEntries(kind, dict);
    const file = entryOf(stream, "F");
    if (this.#options.keepPdfActions !== true && file !== undefined) dict.delete(PDFName.of("F"));
    if (this.#options.keepMetadata === true) return;
    if (kind === "image") this.#streams.cleanImage(stream);
    if (kind === "drawing") this.#streams.cleanDrawing(stream);
  }

  #cleanPage(page: PDFDict): void {
    const contents = entryOf(page, "Contents");
    if (contents === undefined) return;
    // Pages that share their content keep sharing it, or it would multiply.
    const key = contents.toString();
    const known = this.#contents.get(key);
    const cleaned = known === undefined ? this.#cleanContents(contents) : known;
    this.#contents.set(key, cleaned);
    if (cleaned === null) page.delete(PDFName.of("Contents"));
    else page.set(PDFName.of("Contents"), cleaned);
  }

  /** The content of a page without what may not stay; `null` for none. */
  #cleanContents(contents: PDFObject): PDFRef | null {
    const { context, resolve } = this.#objects;
    const list = resolve(contents);
    const parts = list instanceof PDFArray ? list.asArray() : [contents];
    const references = parts.filter(
      (part) => part instanceof PDFRef && resolve(part) instanceof PDFRawStream,
    );
    const streams = references.map(resolve).filter((stream) => stream instanceof PDFRawStream);
    const [single] = references;
    if (!(single instanceof PDFRef)) return null;
    for (const reference of references) this.#visit("content", reference);
    const cleaned = this.#options.keepMetadata === true ? null : this.#streams.cleanPage(streams);
    if (cleaned !== null) return this.#objects.add(cleaned);
    return references.length === 1 ? single : this.#objects.add(context.obj(references));
  }
}

/** What stands at keys of a font. */
const innerRoles: Partial<Record<string, Role>> = { CharProcs: "streams", Resources: "resources" };
