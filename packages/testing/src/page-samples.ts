import type {
  CreatedView,
  EditView,
  ImageFormat,
  ImageView,
  ProblemView,
  UnlockView,
  UploadForm,
  UploadView,
} from "@outrigger/core/images";

/** The time at which the pages are created, in Unix milliseconds. */
export const NOW = Date.parse("2025-11-20T12:00:00.000Z");

/** The PIN of the image; no other text of the samples contains it. */
export const PIN = "Q7ZK2M4X9T3B8V5N";

/** Origin of the sample service. */
export const ORIGIN = "https://images.example";

/** Every format. */
export const FORMATS: readonly ImageFormat[] = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];

/** Text that would do harm if it were parsed as markup, as the end of an attribute, or as a URL. */
export const HOSTILE = [
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "'><svg onload=alert(1)>",
  "</title></style></textarea><b>",
  "javascript:alert(1)",
  "` onmouseover=alert(1) x=`",
  "<!-- --!><i>",
  "&lt;script&gt;&amp;quot;",
  "\u202e{{7*7}}#{7*7}<%= 7*7 %>\u0000\r\n",
];

/** An image that is available in every format. */
export const IMAGE: ImageView = {
  baseUrl: `${ORIGIN}/img`,
  id: "Vb3kq0ZsTmWc9aYh2nLxeg",
  name: "Harbour.png",
  description: null,
  type: "image/png",
  size: 412_345,
  width: 1600,
  height: 900,
  pages: 1,
  warnings: [],
  provenance: true,
  focus: null,
  placeholder: "IPgBBYDpX4uWhVNlW/hzirPy/lu5",
  page: 1,
  agent: { name: "Shutter", version: "2.14.1" },
  createdAt: "2025-11-20T11:00:00.000Z",
  expiresAt: "2025-11-21T11:00:00.000Z",
  maxLifetimeMs: 31_536_000_000,
  viewUrl: `${ORIGIN}/img/Vb3kq0ZsTmWc9aYh2nLxeg/view`,
  links: linksOf(FORMATS),
};

/** Its edit form, with a notice and a problem. */
export const EDIT: EditView = {
  image: IMAGE,
  action: "/img/Vb3kq0ZsTmWc9aYh2nLxeg/edit",
  pin: PIN,
  notice: "Saved.",
  problem: "Refused.",
};

/** An error page. */
export const PROBLEM: ProblemView = {
  baseUrl: `${ORIGIN}/img`,
  status: 410,
  title: "Gone",
  detail: "This image has expired.",
};

/** The PIN form of the image, after a wrong PIN. */
export const UNLOCK: UnlockView = {
  baseUrl: `${ORIGIN}/img`,
  action: "/img/Vb3kq0ZsTmWc9aYh2nLxeg/edit",
  viewUrl: IMAGE.viewUrl,
  problem: "The PIN is wrong.",
};

/** The upload page after a rejection, with the form for browsers without JavaScript. */
export const UPLOAD: UploadView & { form: UploadForm } = {
  baseUrl: `${ORIGIN}/img`,
  types: ["image/png", "image/jpeg"],
  maxUploadBytes: 26_214_400,
  defaultLifetimeMs: 86_400_000,
  maxLifetimeMs: 31_536_000_000,
  sizes: "any",
  form: {
    action: `${ORIGIN}/img/`,
    fileField: "imagedata",
    typed: { name: "Typed.", description: "Typed text.", expiresIn: "3600000" },
  },
  refusal: { status: 415, detail: "Refused upload.", retryAfterSeconds: 42 },
};

/** The reply to the upload form. */
export const CREATED: CreatedView = {
  image: IMAGE,
  editUrl: `${ORIGIN}/img/Vb3kq0ZsTmWc9aYh2nLxeg/edit?pin=${PIN}`,
  pin: PIN,
};

/** The sample's URLs in these formats. */
export function linksOf(formats: readonly ImageFormat[]): Partial<Record<ImageFormat, string>> {
  return Object.fromEntries(
    formats.map((format) => [format, `${ORIGIN}/img/api/images/Vb3kq0ZsTmWc9aYh2nLxeg.${format}`]),
  );
}

/** An image with `text` in every text field. */
export function hostileImage(text: string): ImageView {
  const agent = { name: text, version: text };
  return {
    ...IMAGE,
    id: text,
    name: text,
    description: text,
    type: text,
    agent,
    createdAt: text,
    expiresAt: text,
  };
}

/** An edit form with `text` in every text field. */
export function hostileEdit(text: string): EditView {
  const dates = { expiry: "on", expiresIn: text, expiresAt: text, utcOffset: text } as const;
  const typed = { name: text, description: text, ...dates, focusX: text, focusY: text };
  const fields = ["name", "description", "expiresIn", "expiresAt", "focusX", "focusY", "confirm"];
  const faults = Object.fromEntries(fields.map((field) => [field, text]));
  return { ...EDIT, pin: text, notice: text, problem: text, typed, faults };
}

/** An error page with `text` in every text field. */
export function hostileProblem(text: string): ProblemView {
  return { ...PROBLEM, title: text, detail: text };
}

/** A PIN form with `text` in every text field. */
export function hostileUnlock(text: string): UnlockView {
  return { ...UNLOCK, problem: text };
}

/** An upload page with `text` in every text field. */
export function hostileUpload(text: string): UploadView {
  const form = { ...UPLOAD.form, typed: { name: text, description: text, expiresIn: text } };
  return { ...UPLOAD, form, refusal: { status: 418, detail: text } };
}
