import { createHash } from "node:crypto";
import { isLookup, needsPin } from "./plain-call.ts";
import {
  isEmbedding,
  isImage,
  isOfImage,
  isUpload,
  isViewer,
  type Scene,
  type Stage,
  stage,
  takesFile,
  withBody,
  withHeaders,
  withoutQuery,
  withQuery,
} from "./scenes.ts";
import type { Sent } from "./sender.ts";
import { type ApiSite, startApi } from "./sites.ts";
import { deletedImage, processingImage, readyImage, type Subject, withheldImage } from "./subjects.ts";
import { flatPng } from "./tiny-files.ts";

const MUCH = JSON.stringify({ name: "x".repeat(20_000) });

/** Sites that provoke each status that needs no failure. */
export function ordinaryStages(): Stage[] {
  return [
    stage("where all is well", {}, [
      ...[200, 201, 204, 303].map((status) => ({ status })),
      { status: 202, when: takesFile, alter: withHeaders({ Prefer: "respond-async" }) },
      {
        status: 404,
        when: ({ path }) => path.endsWith("/find"),
        alter: (sent) => ({
          ...sent,
          target: sent.target.replace(/(?<=@|%40|domain=)example\.com/, "b.example"),
        }),
      },
      ...conditions(),
      { status: 501, when: isEmbedding, alter: withQuery("format", "xml") },
      { status: 403, when: needsPin, alter: withHeaders({ "X-Service-Image-Pin": "another" }) },
      { status: 400, when: isLookup, alter: withoutQuery("domain", "company", "email") },
      { status: 400, when: isLookup, alter: (sent) => ({ ...sent, target: `${sent.target}&odd=%ff` }) },
      {
        status: 400,
        when: ({ path }) => path === "/api/openapi.json",
        alter: withHeaders({ Host: "a.example, b.example" }),
      },
      { status: 401, alter: withoutQuery("api_key") },
      {
        status: 404,
        when: ({ path }) => path.startsWith("/api/"),
        subject: async (site) => ({ ...(await readyImage(site)), id: "A".repeat(22) }),
      },
      { status: 410, subject: deletedImage },
      { status: 451, when: isOfImage, subject: withheldImage },
      {
        status: 413,
        when: (described) => !takesFile(described),
        alter: withBody("application/json", MUCH),
      },
      { status: 415, alter: withBody("text/plain", "name=another") },
      { status: 409, when: isUpload, times: 2, alter: underOneKey() },
    ]),
    stage("that denies what is uploaded", {}, [
      { status: 451, when: (described) => takesFile(described) && !isOfImage(described), subject: denied },
    ]),
    stage("that forgets what was deleted", { images: { tombstoneDays: 0 } }, [
      { status: 404, when: isOfImage, subject: deletedImage },
    ]),
    stage("that processes nothing", { images: { processUploads: false } }, [
      { status: 202, when: isOfImage, subject: processingImage },
      {
        status: 409,
        when: (described) => isOfImage(described) && described.method !== "DELETE",
        subject: processingImage,
      },
    ]),
    stage("that does not wait for bodies", { images: { uploadIdleMs: 100 } }, [
      { status: 408, alter: stalled },
    ]),
    stage("for small files", { images: { maxUploadBytes: 10 } }, [{ status: 413, when: takesFile }]),
    stage("for secure connections alone", { tls: "always" }, [{ status: 403 }]),
    stage("of another name", { images: { allowedHosts: ["images.example"] } }, [
      { status: 400, when: isImage },
    ]),
    closed(),
  ];
}

/** Of files, the viewer's too. */
function conditions(): Scene[] {
  const headers = [
    [206, { Range: "bytes=0-0" }],
    [304, { "If-None-Match": "*" }],
    [412, { "If-Match": '"another"' }],
    [416, { Range: "bytes=99999999-" }],
  ] as const;
  return headers.flatMap(([status, header]) => {
    const alter = withHeaders(header);
    return [
      { status, alter },
      { status, when: isViewer, alter: (sent: Sent) => alter(withQuery("download", "png")(sent)) },
    ];
  });
}

/** An image of a service that denies the bytes of later uploads for a legal reason. */
async function denied(site: ApiSite): Promise<Subject> {
  const sha256 = createHash("sha256").update(flatPng()).digest("hex");
  await site.images.deny({ sha256, reason: "By law.", isLegal: true });
  return { id: "A".repeat(22), pin: "A".repeat(16) };
}

/** Each with content different from the previous one. */
function underOneKey(): (sent: Sent) => Sent {
  let count = 0;
  return (sent) => ({
    ...withHeaders({ "Idempotency-Key": "the-same" })(sent),
    target: `${sent.target}?name=${++count}`,
  });
}

function stalled(sent: Sent): Sent {
  return { ...(sent.body === undefined ? withBody("application/json", "{")(sent) : sent), stalls: true };
}

function closed(): Stage {
  let subject: Promise<Subject> | null = null;
  return {
    name: "that is shut down",
    async start() {
      const site = await startApi();
      subject = readyImage(site);
      await subject;
      await site.shutDown();
      return site;
    },
    scenes: [{ status: 503, subject: () => subject ?? Promise.reject(new Error("It was not started")) }],
  };
}
