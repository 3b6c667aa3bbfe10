/** What a value stands for, and so what may stay in it. */
export type Role = "catalog" | "names" | "page" | "outline" | "form" | "annotation" | "start" | "action";

/** What may stand at a key: any value, a value of a role, or one action and actions after it. */
type Allowed = Role | "any" | "actions";

/**
 * The entries that stay in dictionaries from which a reader starts something. Everything else goes: additional actions,
 * scripts, XFA, attached and multimedia files, portfolios, and whatever a later version or a program adds.
 *
 * Sources: ISO 32000-2, tables 29 (catalog), 32 (names), 30 and 31 (pages), 149 and 151 (outlines), 224 (forms), 166, 172 and 173
 * to 193 (annotations), 226 to 235 (fields), 196 to 221 (actions).
 */
export const allowedEntries: Record<Role, ReadonlyMap<string, Allowed>> = {
  catalog: entries(
    [
      ...["Type", "Version", "Extensions", "PageLabels", "Dests", "ViewerPreferences", "PageLayout"],
      ...["PageMode", "Threads", "Metadata", "StructTreeRoot", "MarkInfo", "Lang", "OutputIntents"],
      ...["PieceInfo", "OCProperties"],
    ],
    { Pages: "page", Names: "names", Outlines: "outline", OpenAction: "start", AcroForm: "form" },
  ),
  names: entries(["Dests"]),
  page: entries(
    [
      ...["Type", "Parent", "Count", "LastModified", "Resources", "MediaBox", "CropBox", "BleedBox"],
      ...["TrimBox", "ArtBox", "BoxColorInfo", "Contents", "Rotate", "Group", "Thumb", "B", "Dur", "Trans"],
      ...["Metadata", "PieceInfo", "StructParents", "ID", "PZ", "SeparationInfo", "Tabs", "UserUnit", "VP"],
      "OutputIntents",
    ],
    { Kids: "page", Annots: "annotation" },
  ),
  outline: entries(["Type", "Title", "Count", "Dest", "SE", "C", "F"], {
    Parent: "outline",
    Prev: "outline",
    Next: "outline",
    First: "outline",
    Last: "outline",
    A: "action",
  }),
  form: entries(["NeedAppearances", "SigFlags", "DR", "DA", "Q"], { Fields: "annotation", CO: "annotation" }),
  // Form fields are annotations, too, or their parents.
  annotation: entries(
    [
      ...["Type", "Subtype", "Rect", "Contents", "P", "NM", "M", "F", "AP", "AS", "Border", "C", "OC", "BM"],
      ...["StructParent", "ca", "CA", "Lang", "BS", "BE", "T", "RC", "CreationDate", "Subj", "RT", "IT"],
      ...["Open", "Name", "State", "StateModel", "Dest", "H", "QuadPoints", "DA", "Q", "DS", "CL", "RD"],
      ...["LE", "L", "IC", "LL", "LLE", "Cap", "LLO", "CP", "CO", "Measure", "Vertices", "Path", "InkList"],
      ...["Sy", "MK", "FixedPrint", "OverlayText", "Repeat", "RO", "Rotate"],
      ...["FT", "TU", "TM", "Ff", "V", "DV", "RV", "MaxLen", "Opt", "TI", "I", "Lock", "DR"],
    ],
    {
      A: "action",
      PA: "action",
      Kids: "annotation",
      Parent: "annotation",
      Popup: "annotation",
      IRT: "annotation",
    },
  ),
  // It runs by itself, so it may only choose what the reader shows first.
  start: entries(["Type", "S", "D", "SD"]),
  action: entries(["Type", "S", "D", "SD", "URI", "IsMap", "N", "State", "PreserveRB"], { Next: "actions" }),
};

function entries(any: readonly string[], others: Record<string, Allowed> = {}): Map<string, Allowed> {
  return new Map([...any.map((key): [string, Allowed] => [key, "any"]), ...Object.entries(others)]);
}

/** Kinds of annotations of ISO 32000-2, table 171, that start nothing by themselves. */
export const allowedAnnotations: ReadonlySet<string> = new Set([
  ...["Text", "Link", "FreeText", "Line", "Square", "Circle", "Polygon", "PolyLine", "Highlight"],
  ...["Underline", "Squiggly", "StrikeOut", "Stamp", "Caret", "Ink", "Popup", "Widget", "PrinterMark"],
  ...["TrapNet", "Watermark", "Redact", "Projection"],
]);

/** Actions that lead to a place in the document, turn its layers on and off, or open a link. */
export const allowedActions: Record<"start" | "action", ReadonlySet<string>> = {
  start: new Set(["GoTo"]),
  action: new Set(["GoTo", "Named", "SetOCGState", "URI"]),
};

/** Named actions that every reader has (ISO 32000-2, table 215). Others run commands of one program. */
export const allowedNames: ReadonlySet<string> = new Set(["NextPage", "PrevPage", "FirstPage", "LastPage"]);

/** Actions that are removed wherever they are, even if nothing refers to them. */
export const knownActions: ReadonlySet<string> = new Set([
  ...["GoToR", "GoToE", "GoToDp", "Launch", "Thread", "Sound", "Movie", "Hide", "SubmitForm", "ResetForm"],
  ...["ImportData", "JavaScript", "Rendition", "Trans", "GoTo3DView", "RichMediaExecute"],
]);

/** Entries of a stream that lead to data outside the document. */
export const externalEntries: ReadonlySet<string> = new Set(["FFilter", "FDecodeParms", "Ref", "OPI"]);

/** Links that stay. `www.` is how many documents write a web address. */
const ALLOWED_LINK = /^ *(?:https?:|mailto:|www\.)/i;

/** Whether the address of a link may stay. */
export function isAllowedLink(address: string): boolean {
  return ALLOWED_LINK.test(address);
}
