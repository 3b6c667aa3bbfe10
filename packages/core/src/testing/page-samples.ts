import type { EditView, ImageView, ProblemView, UnlockView } from "../contracts/pages.ts";
import type { ImageFormat } from "../contracts/renderer.ts";

/** When the pages are made, in Unix milliseconds. */
export const NOW = Date.parse("2025-11-20T12:00:00.000Z");

/** The PIN of the image; no other text of the samples holds it. */
export const PIN = "Q7ZK2M4X9T3B8V5N";

/** Where the service of the samples is. */
export const ORIGIN = "https://images.example";

/** Every format. */
export const FORMATS: readonly ImageFormat[] = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];

/** What would do harm if it were taken for markup, for an attribute's end, or for an address. */
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

/** A picture that can be had in every format. */
export const IMAGE: ImageView = {
  baseUrl: `${ORIGIN}/img`,
  id: "Vb3kq0ZsTmWc9aYh2nLxeg",
  name: "Harbour.png",
  type: "image/png",
  size: 412_345,
  width: 1600,
  height: 900,
  pages: 1,
  page: 1,
  agent: { name: "Shutter", version: "2.14.1" },
  createdAt: "2025-11-20T11:00:00.000Z",
  expiresAt: "2025-11-21T11:00:00.000Z",
  viewUrl: `${ORIGIN}/img/Vb3kq0ZsTmWc9aYh2nLxeg/view`,
  links: linksOf(FORMATS),
};

/** Its form, with all that can be said above it. */
export const EDIT: EditView = {
  image: IMAGE,
  action: "/img/Vb3kq0ZsTmWc9aYh2nLxeg/edit",
  pin: PIN,
  maxLifetimeMs: 31_536_000_000,
  notice: "Saved.",
  problem: "Refused.",
};

/** A refusal. */
export const PROBLEM: ProblemView = {
  baseUrl: `${ORIGIN}/img`,
  status: 410,
  title: "Gone",
  detail: "This image has expired.",
};

/** Its form for the PIN, after a wrong one. */
export const UNLOCK: UnlockView = {
  baseUrl: `${ORIGIN}/img`,
  action: "/img/Vb3kq0ZsTmWc9aYh2nLxeg/edit",
  viewUrl: IMAGE.viewUrl,
  problem: "The PIN is wrong.",
};

/** The addresses of the sample in these formats. */
export function linksOf(formats: readonly ImageFormat[]): Partial<Record<ImageFormat, string>> {
  return Object.fromEntries(
    formats.map((format) => [format, `${ORIGIN}/img/api/images/Vb3kq0ZsTmWc9aYh2nLxeg.${format}`]),
  );
}

/** An image whose every text is `text`. */
export function hostileImage(text: string): ImageView {
  const agent = { name: text, version: text };
  return { ...IMAGE, id: text, name: text, type: text, agent, createdAt: text, expiresAt: text };
}

/** A form whose every text is `text`. */
export function hostileEdit(text: string): EditView {
  return { ...EDIT, pin: text, notice: text, problem: text };
}

/** A refusal whose every text is `text`. */
export function hostileProblem(text: string): ProblemView {
  return { ...PROBLEM, title: text, detail: text };
}

/** A form for the PIN whose every text is `text`. */
export function hostileUnlock(text: string): UnlockView {
  return { ...UNLOCK, problem: text };
}
