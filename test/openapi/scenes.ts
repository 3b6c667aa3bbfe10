import type { Described } from "./operations.ts";
import { isLookup, plainCall } from "./plain-call.ts";
import type { Answer, Sent } from "./sender.ts";
import { type ApiSite, type ApiSiteOptions, startApi } from "./sites.ts";
import { readyImage, type Subject } from "./subjects.ts";

/** The way to provoke one status. */
export interface Scene {
  status: number;
  /** Restricts the operations for which this works. @default all that describe the status */
  when?: (described: Described) => boolean;
  /** @default a new image */
  subject?: (site: ApiSite, described: Described) => Promise<Subject>;
  /** Changes the valid call into the one to send. */
  alter?: (sent: Sent) => Sent;
  /** How often it is sent, changed each time. The last answer counts. @default 1 */
  times?: number;
  /** Called just before it is sent, and once it was answered. */
  arm?: () => void;
  disarm?: () => void;
}

/** Scenes played on one site. */
export interface Stage {
  name: string;
  start(): Promise<ApiSite>;
  scenes: readonly Scene[];
}

export function stage(name: string, options: ApiSiteOptions, scenes: readonly Scene[]): Stage {
  return { name, start: () => startApi(options), scenes };
}

export async function play(site: ApiSite, described: Described, scene: Scene): Promise<Answer> {
  const { subject = usualSubject, alter = (sent) => sent, times = 1 } = scene;
  const plain = plainCall(described, await subject(site, described), site);
  scene.arm?.();
  try {
    for (let time = 1; time < times; time++) await site.send(alter(plain));
    return await site.send(alter(plain));
  } finally {
    scene.disarm?.();
  }
}

const usual = new WeakMap<ApiSite, Promise<Subject>>();

/** One image for all operations that change nothing. */
function usualSubject(site: ApiSite, described: Described): Promise<Subject> {
  const { method } = described;
  const known = usual.get(site);
  if (known !== undefined && (method === "GET" || method === "HEAD")) return known;
  const made = readyImage(site);
  if (known === undefined) usual.set(site, made);
  return made;
}

export const withHeaders = (headers: Readonly<Record<string, string>>) => (sent: Sent) => ({
  ...sent,
  headers: { ...sent.headers, ...headers },
});

export const withBody = (type: string, body: string) => (sent: Sent) => ({
  ...withHeaders({ "Content-Type": type })(sent),
  body,
});

export const withQuery = (name: string, value: string) => (sent: Sent) => ({
  ...sent,
  target: `${sent.target}${sent.target.includes("?") ? "&" : "?"}${name}=${value}`,
});

/** Without query parameters of these names. */
export const withoutQuery =
  (...names: readonly string[]) =>
  (sent: Sent) => {
    const [path = "", search = ""] = sent.target.split("?");
    const query = new URLSearchParams(search);
    for (const name of names) query.delete(name);
    return { ...sent, target: query.size === 0 ? path : `${path}?${query}` };
  };

export const isImage = (described: Described) =>
  !isLookup(described) && described.path !== "/api/openapi.json";
export const isUpload = ({ path }: Described) => /^\/api\/images\.(?:json|txt)$/.test(path);
/** Whether the operation stores an image, the form of the upload page included. */
export const takesFile = (described: Described) =>
  isUpload(described) || (described.path === "/" && described.method === "POST");
/** Whether the operation is about one image. */
export const isOfImage = (described: Described) =>
  !isLookup(described) && (described.path.includes("{id}") || isEmbedding(described));
/** Whether the operation tells other sites how to embed an image, which a parameter names. */
export const isEmbedding = ({ path }: Described) => path === "/api/oembed.json";
/** Whether the operation is the viewer, which also answers with a file. */
export const isViewer = ({ path }: Described) => path === "/{id}/view";
