/** What a value stands for, and so what may stay in it. */
export type Role =
  | "catalog"
  | "names"
  | "page"
  | "outline"
  | "form"
  | "annotation"
  | "start"
  | "action"
  | "appearance"
  | "resources"
  | "streams"
  | "fonts"
  | "font"
  | "states"
  | "image"
  | "drawing"
  | "content"
  | "layers"
  | "configuration"
  | "layer"
  | "usage"
  | "structure"
  | "element"
  | "thread"
  | "bead"
  | "intent"
  | "any";

/** What may stand at a key: a value of a role, or one action and actions after it. */
type Allowed = Role | "actions";

/** Entries of a stream that tell how its bytes are stored. */
const stored = ["Length", "Filter", "DecodeParms"];

/**
 * The entries that stay. Everything else goes: additional actions, scripts, XFA, attached and multimedia files, portfolios,
 * authors, dates, signatures, metadata, and whatever a later version or a program adds.
 *
 * Sources: ISO 32000-2, tables 29 (catalog), 32 (names), 30 and 31 (pages), 34 (resources), 87 and 93 (images, forms), 96 to
 * 101 (layers), 149 and 151 (outlines), 162 and 163 (threads), 224 (forms), 166, 172 and 173 to 193 (annotations), 226 to
 * 235 (fields), 196 to 221 (actions), 354 to 358 (structure), 401 (output intents).
 */
export const allowedEntries: Partial<Record<Role, ReadonlyMap<string, Allowed>>> = {
  catalog: entries(
    [
      ...["Type", "Version", "PageLabels", "ViewerPreferences", "PageLayout", "PageMode", "MarkInfo"],
      ...["Lang", "Pages"],
    ],
    {
      ...{ Names: "names", Outlines: "outline", OpenAction: "start", AcroForm: "form", Threads: "thread" },
      ...{ Dests: "states", StructTreeRoot: "structure", OCProperties: "layers", OutputIntents: "intent" },
    },
  ),
  names: entries(["Dests"]),
  page: entries(
    [
      ...[
        "Type",
        "Parent",
        "MediaBox",
        "CropBox",
        "BleedBox",
        "TrimBox",
        "ArtBox",
        "BoxColorInfo",
        "Contents",
      ],
      ...["Rotate", "Group", "Dur", "Trans", "StructParents", "PZ", "Tabs", "UserUnit"],
    ],
    { Resources: "resources", Annots: "annotation", B: "bead", OutputIntents: "intent" },
  ),
  outline: entries(["Type", "Title", "Count", "Dest", "C", "F"], {
    ...{ Parent: "outline", Prev: "outline", Next: "outline", First: "outline", Last: "outline" },
    ...{ SE: "element", A: "action" },
  }),
  form: entries(["NeedAppearances", "DA", "Q"], {
    ...{ Fields: "annotation", CO: "annotation", DR: "resources" },
  }),
  // Form fields are annotations, too, or their parents.
  annotation: entries(
    [
      ...[
        "Type",
        "Subtype",
        "Rect",
        "Contents",
        "P",
        "F",
        "AS",
        "Border",
        "C",
        "BM",
        "StructParent",
        "ca",
        "CA",
      ],
      ...["Lang", "BS", "BE", "T", "RC", "RT", "IT", "Open", "Name", "State", "StateModel", "Dest", "H"],
      ...["QuadPoints", "DA", "Q", "DS", "CL", "RD", "LE", "L", "IC", "LL", "LLE", "Cap", "LLO", "CP", "CO"],
      ...["Vertices", "Path", "InkList", "Sy", "MK", "FixedPrint", "OverlayText", "Repeat", "RO", "Rotate"],
      ...["FT", "TU", "TM", "Ff", "V", "DV", "RV", "MaxLen", "Opt", "TI", "I"],
    ],
    {
      ...{ A: "action", PA: "action", AP: "appearance", OC: "layer", DR: "resources" },
      ...{ Kids: "annotation", Parent: "annotation", Popup: "annotation", IRT: "annotation" },
    },
  ),
  // It runs by itself, so it may only choose what the reader shows first.
  start: entries(["Type", "S", "D", "SD"]),
  action: entries(["Type", "S", "D", "SD", "URI", "IsMap", "N", "State", "PreserveRB"], { Next: "actions" }),
  resources: entries(["ProcSet"], {
    ...{ XObject: "streams", Pattern: "streams", Font: "fonts", Properties: "layer" },
    ...{ ExtGState: "states", ColorSpace: "states", Shading: "states" },
  }),
  image: entries(
    [
      ...[...stored, "Type", "Subtype", "Width", "Height", "ColorSpace", "BitsPerComponent", "Intent"],
      ...["ImageMask", "Mask", "Decode", "Interpolate", "SMask", "SMaskInData", "StructParent", "Matte"],
    ],
    { OC: "layer" },
  ),
  drawing: entries(
    [
      ...[
        ...stored,
        "Type",
        "Subtype",
        "FormType",
        "BBox",
        "Matrix",
        "Group",
        "StructParent",
        "StructParents",
      ],
      ...["PatternType", "PaintType", "TilingType", "XStep", "YStep"],
    ],
    { Resources: "resources", OC: "layer" },
  ),
  content: entries(stored),
  layers: entries([], { OCGs: "layer", D: "configuration", Configs: "configuration" }),
  configuration: entries(["Name", "BaseState", "Intent", "ListMode"], {
    ...{ ON: "layer", OFF: "layer", Order: "layer", RBGroups: "layer", Locked: "layer", AS: "usage" },
  }),
  // Also memberships, and the properties of marked content.
  layer: entries(
    [
      ...["Type", "Subtype", "Name", "Intent", "P", "MCID", "Lang", "Alt", "E", "ActualText", "Attached"],
      "BBox",
    ],
    { OCGs: "layer", VE: "layer", Usage: "usage" },
  ),
  usage: entries(["Event", "Category", "Language", "Export", "Zoom", "Print", "View", "PageElement"], {
    OCGs: "layer",
  }),
  structure: entries(["Type", "IDTree", "ParentTree", "ParentTreeNextKey", "Namespaces"], {
    ...{ K: "element", RoleMap: "states", ClassMap: "states" },
  }),
  element: entries(
    [
      ...["Type", "S", "ID", "Pg", "A", "C", "R", "T", "Lang", "Alt", "E", "ActualText", "NS", "Obj", "MCID"],
      ...["Stm", "StmOwn", "Phoneme", "PhoneticAlphabet"],
    ],
    { P: "element", K: "element", Ref: "element" },
  ),
  thread: entries(["Type"], { F: "bead" }),
  bead: entries(["Type", "P", "R"], { T: "thread", N: "bead", V: "bead" }),
  intent: entries([
    ...[
      "Type",
      "S",
      "OutputCondition",
      "OutputConditionIdentifier",
      "RegistryName",
      "Info",
      "DestOutputProfile",
    ],
  ]),
};

function entries(any: readonly string[], others: Record<string, Allowed> = {}): Map<string, Allowed> {
  return new Map([...any.map((key): [string, Allowed] => [key, "any"]), ...Object.entries(others)]);
}

/** What all entries of a dictionary stand for whose keys are names of the document's own. */
export const namedEntries: Partial<Record<Role, Role>> = {
  appearance: "appearance",
  streams: "streams",
  fonts: "font",
  states: "any",
};

/** Roles of dictionaries by the name at their `Type`, wherever they are. */
export const rolesOfTypes: Partial<Record<string, Role>> = {
  Annot: "annotation",
  Font: "font",
  OCG: "layer",
  OCMD: "layer",
  StructElem: "element",
  Thread: "thread",
  Bead: "bead",
};

/** Entries that no other dictionary keeps: metadata, and data outside the page or the document. */
export const privateEntries: ReadonlySet<string> = new Set([
  ...["Metadata", "PieceInfo", "LastModified", "NM", "Subj", "M", "CreationDate", "OPI", "Thumb", "VP"],
  ...["Measure", "PtData", "Perms", "DSS", "Legal", "SpiderInfo", "SigFlags", "Lock", "SV", "Alternates"],
  ...["Creator", "CreatorInfo", "User"],
]);
/** Entries of any dictionary or stream that lead to a file. */
export const fileEntries: ReadonlySet<string> = new Set(["AF", "EF", "FFilter", "FDecodeParms", "Ref"]);

/** Roles whose other entries may start something. */
export const actingRoles: ReadonlySet<Role> = new Set([
  ...(["catalog", "names", "page", "outline", "form", "annotation", "start", "action"] as const),
]);

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

/** Named actions that every reader has (ISO 32000-1, table 215). Others run commands of one program. */
export const allowedNames: ReadonlySet<string> = new Set(["NextPage", "PrevPage", "FirstPage", "LastPage"]);

/** Actions that are removed wherever they are. */
export const knownActions: ReadonlySet<string> = new Set([
  ...["GoToR", "GoToE", "GoToDp", "Launch", "Thread", "Sound", "Movie", "Hide", "SubmitForm", "ResetForm"],
  ...["ImportData", "JavaScript", "Rendition", "Trans", "GoTo3DView", "RichMediaExecute"],
]);

/** Links that stay. `www.` is how many documents write a web address. */
const ALLOWED_LINK = /^ *(?:https?:|mailto:|www\.)/i;

/** Whether the address of a link may stay. */
export function isAllowedLink(address: string): boolean {
  return ALLOWED_LINK.test(address);
}
