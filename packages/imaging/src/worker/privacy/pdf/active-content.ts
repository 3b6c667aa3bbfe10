import {
  allowedActions,
  allowedAnnotations,
  allowedEntries,
  allowedNames,
  externalEntries,
  isAllowedLink,
  knownActions,
  type Role,
} from "./allowed-entries.ts";
import { blankDictionary, blankEntry, blankObject, replaceName } from "./blank-out.ts";
import { parsePdfValue } from "./parse-pdf-value.ts";
import { groupByNumber, type PdfHost, type PdfInventory, type PdfObject, reach } from "./pdf-inventory.ts";
import {
  entryOf,
  type PdfDictionary,
  type PdfEntry,
  type PdfValue,
  pdfNameAt,
  pdfText,
  visitValues,
} from "./pdf-value.ts";

/** Roles of objects by the name at their `Type`, for objects that nothing refers to. */
const roleOfType: Partial<Record<string, Role>> = {
  Catalog: "catalog",
  Pages: "page",
  Page: "page",
  Annot: "annotation",
  Action: "action",
};

/** Keys that objects of a role have, and no others that may be in their place. */
const telltaleKeys: Record<Role, readonly string[]> = {
  catalog: ["Pages"],
  names: ["Dests", "JavaScript", "EmbeddedFiles", "AP"],
  page: ["Kids", "MediaBox", "Contents", "Resources", "Annots"],
  outline: ["Title", "First"],
  form: ["Fields", "XFA"],
  annotation: ["Subtype", "Rect", "FT", "T", "Kids"],
  start: ["S"],
  action: ["S"],
};

const fileKeys: ReadonlySet<string> = new Set(["F", "UF", "DOS", "Mac", "Unix"]);

/**
 * Blanks everything in a document that starts something or carries a file: `visit` sees each object once, then `finish`
 * decides about the others by what refers to them. Superseded revisions count.
 */
export class ActiveContent {
  /** Objects that may refer to files, by value of their entry. */
  readonly #mayHaveFiles: PdfObject[] = [];
  /** Parameters by which a reader shows the first page of a file early. They no longer fit when others are blanked. */
  readonly #linearized: PdfObject[] = [];
  readonly #typed: [Role, PdfObject][] = [];
  /** Positions of entries and dictionaries without which the document remains. */
  readonly #gone = new Map<PdfHost, Set<number>>();
  readonly #judged = new Set<string>();
  readonly #judgedObjects = new Map<Role, Set<PdfObject>>();
  readonly #waiting: [Role, number][] = [];
  #byNumber: ReadonlyMap<number, PdfObject[]> = new Map();
  #lastRead: { object: PdfObject; value: PdfValue | null } | undefined;
  #isAmbiguous = false;
  #hasRemoved = false;
  #dropsReferences = false;

  /** Whether an object is in the place of another one that may differ from it, so that both must not be cleaned alike. */
  get isAmbiguous(): boolean {
    return this.#isAmbiguous;
  }

  /** Whether something was blanked. */
  get hasRemoved(): boolean {
    return this.#hasRemoved;
  }

  /** Blanks what needs no look at other objects. */
  visit(object: PdfObject, value: PdfValue | null): void {
    if (value === null) return;
    const { host, data } = object;
    if (data !== null && pdfNameAt(value, "Type") === "EmbeddedFile") {
      this.#mark(host, value.start, value);
      blankObject(object, value);
      return;
    }
    if (entryOf(value, "Linearized") !== undefined) this.#linearized.push(object);
    const role = roleOfType[pdfNameAt(value, "Type") ?? ""];
    if (role !== undefined) this.#typed.push([role, object]);
    let mayHaveFiles = false;
    visitValues(value, (inner) => {
      if (inner.kind !== "dictionary") return;
      if (isForbiddenAction(host, inner)) {
        this.#mark(host, inner.start, inner);
        blankDictionary(host, inner);
      }
      for (const { key } of inner.entries) if (key === "EF" || key === "AF") mayHaveFiles = true;
    });
    if (mayHaveFiles) this.#mayHaveFiles.push(object);
    if (data === null || value.kind !== "dictionary") return;
    for (const entry of value.entries) {
      const isExternal = entry.key === "F" && entry.value.kind !== "name" && entry.value.kind !== "array";
      if (isExternal || externalEntries.has(entry.key)) this.#remove(host, entry);
    }
  }

  /** Blanks the rest, when all objects are known. */
  finish(inventory: PdfInventory): void {
    this.#byNumber = groupByNumber(inventory.objects);
    for (const trailer of inventory.trailers) {
      const root = entryOf(trailer, "Root");
      if (root !== undefined) this.#judge("catalog", inventory.file, root);
    }
    for (const [role, object] of this.#typed) this.#judgeObject(role, object);
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      for (const object of this.#objectsAt(next[1])) this.#judgeObject(next[0], object);
    }
    for (const object of this.#mayHaveFiles) this.#removeFiles(object);
    if (!this.#hasRemoved) return;
    for (const object of this.#linearized) blankObject(object, this.#read(object));
    if (this.#dropsReferences) this.#blankUnreachable(inventory);
  }

  #judgeObject(role: Role, object: PdfObject): void {
    const judged = this.#judgedObjects.get(role) ?? new Set();
    const value = judged.has(object) ? null : this.#read(object);
    if (value === null) return;
    this.#judgedObjects.set(role, judged.add(object));
    if (this.#objectsAt(object.number).length > 1 && !looksLike(role, value)) this.#isAmbiguous = true;
    const isAction = role === "action" || role === "start";
    if (!isAction || this.#isAllowedAction(role, object.host, value)) this.#judge(role, object.host, value);
  }

  #judge(role: Role, host: PdfHost, value: PdfValue): void {
    if (value.kind === "reference") {
      const job = `${role} ${value.number}`;
      if (!this.#judged.has(job)) this.#waiting.push([role, value.number]);
      this.#judged.add(job);
    } else if (value.kind === "array" && role !== "action" && role !== "start") {
      for (const item of value.items) this.#judge(role, host, item);
    } else if (value.kind === "dictionary") this.#judgeEntries(role, host, value);
  }

  #judgeEntries(role: Role, host: PdfHost, dictionary: PdfDictionary): void {
    for (const entry of dictionary.entries) {
      const allowed = allowedEntries[role].get(entry.key);
      if (allowed === undefined) this.#remove(host, entry);
      else if (allowed === "start" || allowed === "action" || allowed === "actions") {
        const isList = allowed === "actions";
        const kind = isList ? "action" : allowed;
        // Another array is a destination.
        const list = entry.value.kind === "array" ? (isList ? entry.value.items : []) : [entry.value];
        const isAllowed = list.every((item) => this.#isAllowedAction(kind, host, item, !isList));
        if (!isAllowed) this.#remove(host, entry);
        else for (const item of list) this.#judge(kind, host, item);
      } else if (allowed !== "any") this.#judge(allowed, host, entry.value);
    }
    if (role !== "annotation") return;
    const subtype = entryOf(dictionary, "Subtype");
    // Readers draw the appearance of a stamp, and nothing else.
    if (subtype?.kind === "name" && !allowedAnnotations.has(subtype.text)) {
      if (replaceName(host, subtype, "Stamp")) this.#hasRemoved = true;
    }
  }

  /** Whether an action, or every object of its number, may stay. `canBePlace`: an array is a destination. */
  #isAllowedAction(role: "start" | "action", host: PdfHost, value: PdfValue, canBePlace = false): boolean {
    if (value.kind === "reference") {
      return this.#objectsAt(value.number).every((object) => {
        const target = this.#read(object);
        if (target?.kind === "array") return canBePlace;
        return target?.kind === "dictionary" && this.#isAllowedAction(role, object.host, target);
      });
    }
    if (value.kind !== "dictionary") return value.kind !== "array";
    const kind = pdfNameAt(value, "S");
    if (kind === undefined || !allowedActions[role].has(kind)) return false;
    if (kind === "Named") return allowedNames.has(pdfNameAt(value, "N") ?? "");
    return kind !== "URI" || this.#isAllowedLink(host, entryOf(value, "URI"));
  }

  #isAllowedLink(host: PdfHost, address: PdfValue | undefined): boolean {
    if (address?.kind === "string") return isAllowedLink(pdfText(host.content, address));
    if (address?.kind !== "reference") return false;
    return this.#objectsAt(address.number).every((object) => {
      const target = this.#read(object);
      return target?.kind === "string" && isAllowedLink(pdfText(object.host.content, target));
    });
  }

  /** Removes embedded and associated files from file specifications wherever they are. */
  #removeFiles(object: PdfObject): void {
    const value = this.#read(object);
    if (value === null) return;
    visitValues(value, (inner) => {
      if (inner.kind !== "dictionary") return;
      for (const entry of inner.entries) {
        const isFiles = entry.key === "EF" && this.#isSome(entry.value, isFileMap);
        if (isFiles || (entry.key === "AF" && this.#isSome(entry.value, isFileSpecification))) {
          this.#remove(object.host, entry);
        }
      }
    });
  }

  /** Whether a value, an item of it or an object that it refers to is what `test` asks for. */
  #isSome(value: PdfValue, test: (value: PdfDictionary) => boolean, depth = 0): boolean {
    if (value.kind === "dictionary") return test(value);
    if (depth > 2) return false;
    if (value.kind === "array") return value.items.some((item) => this.#isSome(item, test, depth + 1));
    if (value.kind !== "reference") return false;
    return this.#objectsAt(value.number).some((object) => {
      const target = this.#read(object);
      return target !== null && this.#isSome(target, test, depth + 1);
    });
  }

  /** Blanks objects that only removed entries led to, directly or not. */
  #blankUnreachable({ objects, trailers }: PdfInventory): void {
    const all = new Map<PdfObject, number[]>();
    const left = new Map<PdfObject, number[]>();
    for (const object of objects) {
      const value = this.#read(object);
      all.set(object, this.#referencesIn(value));
      if (this.#gone.has(object.host))
        left.set(object, this.#referencesIn(value, this.#gone.get(object.host)));
    }
    const roots = trailers.flatMap((trailer) => this.#referencesIn(trailer));
    const before = reach(roots, this.#byNumber, (object) => all.get(object) ?? []);
    const after = reach(roots, this.#byNumber, (object) => left.get(object) ?? all.get(object) ?? []);
    for (const object of objects) {
      if (before.has(object.number) && !after.has(object.number)) blankObject(object, this.#read(object));
    }
  }

  /** The numbers of the objects that a value refers to, except from entries and dictionaries at `gone`. */
  #referencesIn(value: PdfValue | null, gone?: ReadonlySet<number>): number[] {
    const numbers: number[] = [];
    const collect = (inner: PdfValue): void => {
      if (inner.kind === "reference") numbers.push(inner.number);
      else if (inner.kind === "array") inner.items.forEach(collect);
      else if (inner.kind === "dictionary" && gone?.has(inner.start) !== true) {
        for (const entry of inner.entries) if (gone?.has(entry.start) !== true) collect(entry.value);
      }
    };
    if (value !== null) collect(value);
    return numbers;
  }

  /** The value of an object. Successive questions are often about the same one, which may be large. */
  #read(object: PdfObject): PdfValue | null {
    if (this.#lastRead?.object !== object) {
      this.#lastRead = { object, value: parsePdfValue(object.host.content, object.start) };
    }
    return this.#lastRead.value;
  }

  #remove(host: PdfHost, entry: PdfEntry): void {
    this.#mark(host, entry.start, entry.value);
    blankEntry(host, entry);
  }

  #mark(host: PdfHost, start: number, value: PdfValue): void {
    this.#hasRemoved = true;
    this.#dropsReferences ||= this.#referencesIn(value).length > 0;
    const gone = this.#gone.get(host) ?? new Set();
    this.#gone.set(host, gone.add(start));
  }

  #objectsAt(number: number): readonly PdfObject[] {
    return this.#byNumber.get(number) ?? [];
  }
}

/** Whether a dictionary is an action that may not stay, wherever it is. An element of the structure is none. */
function isForbiddenAction(host: PdfHost, value: PdfDictionary): boolean {
  const kind = pdfNameAt(value, "S");
  if (kind === undefined || entryOf(value, "P") !== undefined) return false;
  if (knownActions.has(kind)) return true;
  const address = kind === "URI" ? entryOf(value, "URI") : undefined;
  return address?.kind === "string" && !isAllowedLink(pdfText(host.content, address));
}

/** Whether a value can be of a role, by its keys. */
function looksLike(role: Role, value: PdfValue): boolean {
  if (value.kind === "array") return role === "annotation";
  const keys = telltaleKeys[role];
  return value.kind === "dictionary" && value.entries.some(({ key }) => keys.includes(key));
}

function isFileMap(value: PdfDictionary): boolean {
  return value.entries.some(({ key }) => fileKeys.has(key));
}

function isFileSpecification(value: PdfDictionary): boolean {
  const hasName = value.entries.some((entry) => fileKeys.has(entry.key) && entry.value.kind === "string");
  return hasName || entryOf(value, "EF") !== undefined || pdfNameAt(value, "Type") === "Filespec";
}
