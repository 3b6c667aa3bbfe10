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
const STORED = "Length Filter DecodeParms";

/**
 * The entries that stay. Everything else goes: additional actions, scripts, XFA, attached and multimedia files, portfolios,
 * authors, dates, signatures, metadata, and whatever a later version or a program adds.
 *
 * Sources: ISO 32000-2, tables 29 (catalog), 32 (names), 30 and 31 (pages), 34 (resources), 87 and 93 (images, forms), 96 to
 * 101 (layers), 149 and 151 (outlines), 162 and 163 (threads), 224 (forms), 166, 172 and 173 to 193 (annotations), 226 to
 * 235 (fields), 196 to 221 (actions), 354 to 358 (structure), 401 (output intents).
 */
export const allowedEntries: Partial<Record<Role, ReadonlyMap<string, Allowed>>> = {
  catalog: entries({
    any: "Type Version PageLabels ViewerPreferences PageLayout PageMode MarkInfo Lang Pages",
    ...{ names: "Names", outline: "Outlines", start: "OpenAction", form: "AcroForm", thread: "Threads" },
    ...{ states: "Dests", structure: "StructTreeRoot", layers: "OCProperties", intent: "OutputIntents" },
  }),
  names: entries({ any: "Dests" }),
  page: entries({
    any:
      "Type Parent MediaBox CropBox BleedBox TrimBox ArtBox BoxColorInfo Contents Rotate Group Dur Trans StructParents PZ " +
      "Tabs UserUnit",
    ...{ resources: "Resources", annotation: "Annots", bead: "B", intent: "OutputIntents" },
  }),
  outline: entries({
    any: "Type Title Count Dest C F",
    ...{ outline: "Parent Prev Next First Last", element: "SE", action: "A" },
  }),
  form: entries({ any: "NeedAppearances DA Q", annotation: "Fields CO", resources: "DR" }),
  // Form fields are annotations, too, or their parents.
  annotation: entries({
    any:
      "Type Subtype Rect Contents P F AS Border C BM StructParent ca CA Lang BS BE T RC RT IT Open Name State StateModel Dest " +
      "H QuadPoints DA Q DS CL RD LE L IC LL LLE Cap LLO CP CO Vertices Path InkList Sy MK FixedPrint OverlayText Repeat RO " +
      "Rotate FT TU TM Ff V DV RV MaxLen Opt TI I",
    ...{
      action: "A PA",
      appearance: "AP",
      layer: "OC",
      resources: "DR",
      annotation: "Kids Parent Popup IRT",
    },
  }),
  // It runs by itself, so it may only choose what the reader shows first.
  start: entries({ any: "Type S D SD" }),
  action: entries({ any: "Type S D SD URI IsMap N State PreserveRB", actions: "Next" }),
  resources: entries({
    any: "ProcSet",
    ...{
      streams: "XObject Pattern",
      fonts: "Font",
      layer: "Properties",
      states: "ExtGState ColorSpace Shading",
    },
  }),
  image: entries({
    any:
      `${STORED} Type Subtype Width Height ColorSpace BitsPerComponent Intent ImageMask Mask Decode Interpolate SMask ` +
      "SMaskInData StructParent Matte",
    layer: "OC",
  }),
  drawing: entries({
    any:
      `${STORED} Type Subtype FormType BBox Matrix Group StructParent StructParents PatternType PaintType TilingType XStep ` +
      "YStep",
    ...{ resources: "Resources", layer: "OC" },
  }),
  content: entries({ any: STORED }),
  layers: entries({ layer: "OCGs", configuration: "D Configs" }),
  configuration: entries({
    ...{ any: "Name BaseState Intent ListMode", layer: "ON OFF Order RBGroups Locked", usage: "AS" },
  }),
  // Also memberships, and the properties of marked content.
  layer: entries({
    any: "Type Subtype Name Intent P MCID Lang Alt E ActualText Attached BBox",
    ...{ layer: "OCGs VE", usage: "Usage" },
  }),
  usage: entries({ any: "Event Category Language Export Zoom Print View PageElement", layer: "OCGs" }),
  structure: entries({
    ...{
      any: "Type IDTree ParentTree ParentTreeNextKey Namespaces",
      element: "K",
      states: "RoleMap ClassMap",
    },
  }),
  element: entries({
    any: "Type S ID Pg A C R T Lang Alt E ActualText NS Obj MCID Stm StmOwn Phoneme PhoneticAlphabet",
    element: "P K Ref",
  }),
  thread: entries({ any: "Type", bead: "F" }),
  bead: entries({ any: "Type P R", thread: "T", bead: "N V" }),
  intent: entries({
    any: "Type S OutputCondition OutputConditionIdentifier RegistryName Info DestOutputProfile",
  }),
};

/** The keys of each role, as a map from keys to roles. */
function entries(keys: Partial<Record<Allowed, string>>): Map<string, Allowed> {
  return new Map(
    Object.entries(keys).flatMap(([role, names]) => {
      // `Object.entries` widens the keys.
      return names.split(" ").map((name): [string, Allowed] => [name, role as Allowed]);
    }),
  );
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

const named = (names: string) => new Set(names.split(" "));

/** Entries that no other dictionary keeps: metadata, and data outside the page or the document. */
export const privateEntries: ReadonlySet<string> = named(
  "Metadata PieceInfo LastModified NM Subj M CreationDate OPI Thumb VP Measure PtData Perms DSS Legal " +
    "SpiderInfo SigFlags Lock SV Alternates Creator CreatorInfo User",
);
/** Entries of any dictionary or stream that lead to a file. */
export const fileEntries: ReadonlySet<string> = named("AF EF FFilter FDecodeParms Ref");

/** Roles whose other entries may start something. */
export const actingRoles: ReadonlySet<Role> = new Set([
  ...(["catalog", "names", "page", "outline", "form", "annotation", "start", "action"] as const),
]);

/** Kinds of annotations of ISO 32000-2, table 171, that start nothing by themselves. */
export const allowedAnnotations: ReadonlySet<string> = named(
  "Text Link FreeText Line Square Circle Polygon PolyLine Highlight Underline Squiggly StrikeOut Stamp " +
    "Caret Ink Popup Widget PrinterMark TrapNet Watermark Redact Projection",
);

/** Actions that lead to a place in the document, turn its layers on and off, or open a link. */
export const allowedActions: Record<"start" | "action", ReadonlySet<string>> = {
  start: new Set(["GoTo"]),
  action: new Set(["GoTo", "Named", "SetOCGState", "URI"]),
};

/** Named actions that every reader has (ISO 32000-1, table 215). Others run commands of one program. */
export const allowedNames: ReadonlySet<string> = named("NextPage PrevPage FirstPage LastPage");

/** Actions that are removed wherever they are. */
export const knownActions: ReadonlySet<string> = named(
  "GoToR GoToE GoToDp Launch Thread Sound Movie Hide SubmitForm ResetForm ImportData JavaScript " +
    "Rendition Trans GoTo3DView RichMediaExecute",
);

/** Links that stay. `www.` is how many documents write a web address. */
const ALLOWED_LINK = /^ *(?:https?:|mailto:|www\.)/i;

/** Whether the address of a link may stay. */
export function isAllowedLink(address: string): boolean {
  return ALLOWED_LINK.test(address);
}
