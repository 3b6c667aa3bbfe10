import { connect } from "node:net";
import { addressOf, type Created, postImage, type Site } from "../support/service.ts";
import type { Bomb } from "./bomb.ts";
import { corruptions, type NamedFile } from "./damaged-files.ts";
import { requestOf, VALID } from "./hostile-upload.ts";
import { HOSTILE_UPLOADS } from "./hostile-uploads.ts";
import { inParallel } from "./in-parallel.ts";
import { mutate, split } from "./mutations.ts";
import type { Random } from "./random.ts";
import { exchange } from "./raw-http.ts";
import { HOSTILE_PATHS, MALFORMED_HOSTS, ODD_REQUESTS } from "./request-targets.ts";
import { BAD_READ_PARAMETERS, ODD_CONDITIONS, ODD_RANGES } from "./request-values.ts";

/** The inputs of a barrage. */
export interface Ammunition {
  bombs: readonly Bomb[];
  files: readonly NamedFile[];
  /** ID of a live image. */
  id: string;
}

/** The outcome of a barrage. */
export interface Impact {
  /** Replies per status; 0 for a connection closed without a reply. */
  statuses: Map<number, number>;
  /** Violations, in words. */
  complaints: string[];
  stored: string[];
}

const PATH = "/img/api/images.json";
const WIDTH = 8;
const MUTATIONS = 150;
const CUTS = 100;

/** Sends every kind of bad input, in an order set by the seed, several at a time. */
export async function fire(site: Site, { bombs, files, id }: Ammunition, random: Random): Promise<Impact> {
  const impact: Impact = { statuses: new Map(), complaints: [], stored: [] };
  const count = (title: string, status: number) => {
    impact.statuses.set(status, (impact.statuses.get(status) ?? 0) + 1);
    // A full queue answers 503, a conversion that is not installed 501.
    if (status >= 500 && status !== 501 && status !== 503) impact.complaints.push(`${title}: ${status}`);
  };
  const sendRaw = async (title: string, request: string | Buffer | Buffer[]) => {
    const reply = await exchange(site.origin, request);
    count(title, reply?.status ?? 0);
    if (reply?.status === 201) impact.stored.push((JSON.parse(reply.body.toString()) as Created).id);
  };
  const sendFile = async ({ title, type, bytes }: NamedFile | Bomb) => {
    const response = await postImage(site, bytes, type);
    const body = await response.text();
    count(title, response.status);
    if (response.status !== 201) return;
    const created = JSON.parse(body) as Created;
    impact.stored.push(created.id);
    const rendition = await fetch(`${addressOf(site, created.id, "webp")}?resize=32x`);
    await rendition.arrayBuffer();
    count(`${title} as webp`, rendition.status);
  };
  const sendHead = (head: string) => {
    const text = `${head.replaceAll("ID", id)}\r\n\r\n`;
    return sendRaw(text.slice(0, 100), text);
  };
  const readWith = (line: string) =>
    sendHead(`GET /img/api/images/ID.png HTTP/1.1\r\nHost: localhost\r\n${line}`);

  const valid = Buffer.from(VALID, "latin1");
  const shots: (() => Promise<void>)[] = [
    ...HOSTILE_UPLOADS.map((upload) => () => sendRaw(upload.title, requestOf(upload, PATH))),
    ...Array.from({ length: MUTATIONS }, (_, index) => {
      const request = requestOf({ title: "", statuses: [], body: mutate(valid, random) }, PATH);
      const pieces = split(request, random);
      return () => sendRaw(`mutation ${index}`, pieces);
    }),
    ...Array.from({ length: CUTS }, (_, index) => {
      const request = requestOf({ title: "", statuses: [], body: valid }, PATH);
      return () => cut(site, request.subarray(0, random.below(request.length)), index % 2 === 0);
    }),
    ...files.flatMap((file) =>
      corruptions(file.bytes, random, 5).map((each) => () => sendFile({ ...file, bytes: each.bytes })),
    ),
    ...bombs.map((bomb) => () => sendFile(bomb)),
    ...HOSTILE_PATHS.map(
      ([path]) =>
        () =>
          sendHead(`GET /img${path} HTTP/1.1\r\nHost: localhost`),
    ),
    ...ODD_REQUESTS.map(
      ([, head]) =>
        () =>
          sendHead(head),
    ),
    ...MALFORMED_HOSTS.map((host) => () => sendHead(`GET /img/api/images/ID.json HTTP/1.1\r\nHost: ${host}`)),
    ...BAD_READ_PARAMETERS.map(
      (query) => () => sendHead(`GET /img/api/images/ID.jpg?${query} HTTP/1.1\r\nHost: localhost`),
    ),
    ...ODD_RANGES.map((range) => () => readWith(`Range: ${range}`)),
    ...ODD_CONDITIONS.map((value) => () => readWith(`If-None-Match: ${value}\r\nIf-Range: ${value}`)),
  ];
  await inParallel(shuffled(shots, random), WIDTH, async (shot) => {
    try {
      await shot();
    } catch (error) {
      impact.complaints.push(String(error));
    }
  });
  return impact;
}

/** Aborts in the middle of a request, by closing or resetting the connection. */
function cut(site: Site, request: Buffer, isReset: boolean): Promise<void> {
  const { hostname, port } = new URL(site.origin);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    // The reset is intended.
    socket.on("error", () => {});
    socket.on("close", () => resolve());
    socket.write(request, () => {
      if (isReset) socket.resetAndDestroy();
      else socket.destroy();
    });
  });
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const list = [...items];
  for (let last = list.length - 1; last > 0; last--) {
    const other = random.below(last + 1);
    const [a, b] = [list[last], list[other]];
    if (a === undefined || b === undefined) continue;
    list[last] = b;
    list[other] = a;
  }
  return list;
}
