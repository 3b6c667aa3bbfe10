import { setTimeout as delay } from "node:timers/promises";
import { createMemoryAccounts, createMemoryContactSource, ServiceError } from "@outrigger/core";
import type { MailProber } from "@outrigger/core/lookup";
import { createHeaderRenderer } from "@outrigger/testing";
import { createPages } from "@outrigger/web";
import { ADA, PEOPLE } from "../lookup/people.ts";
import { type Fault, faulty, faultyStore, throwing } from "./faults.ts";
import type { Described } from "./operations.ts";
import { isLookup } from "./plain-call.ts";
import { isOfImage, isUpload, isViewer, type Stage, stage, withQuery } from "./scenes.ts";
import { type ApiSite, type ApiSiteOptions, startApi } from "./sites.ts";
import { processingImage, readyImage } from "./subjects.ts";
import { flatGif } from "./tiny-files.ts";

/** Sites with a failing part, or without an ability that a request needs. */
export function faultStages(): Stage[] {
  return [broken(), full(), raced(), crowded(), limited(), owning(), silent(), suppressing()];
}

/** Arms and disarms a fault. */
function switchOf(fault: Fault, error: Error) {
  return {
    arm() {
      fault.error = error;
    },
    disarm() {
      fault.error = null;
    },
  };
}

function broken(): Stage {
  const fault: Fault = { error: null };
  const options: ApiSiteOptions = {
    storeOf: (store) => faultyStore(store, fault),
    images: { pages: throwing(createPages(), fault, ["upload"]) },
    lookup: {
      accounts: faulty(createMemoryAccounts(), fault),
      contacts: faulty(createMemoryContactSource({ contacts: PEOPLE }), fault),
    },
  };
  return stage("with a bug", options, [{ status: 500, ...switchOf(fault, new Error("a bug")) }]);
}

function full(): Stage {
  const fault: Fault = { error: null };
  const noSpace = switchOf(fault, new ServiceError("no_space", "The disk is full"));
  const options: ApiSiteOptions = {
    storeOf: (store) => faultyStore(store, fault, ["put"]),
    images: { processUploads: false },
  };
  return stage("whose storage is full", options, [
    { status: 507, when: ({ method }) => method !== "DELETE", ...noSpace },
    // Deleting needs no room, except to notify the process at work on the image.
    { status: 507, when: ({ method }) => method === "DELETE", subject: processingImage, ...noSpace },
  ]);
}

function raced(): Stage {
  const fault: Fault = { error: null };
  const lost = switchOf(fault, new ServiceError("conflict", "Another process was faster"));
  return stage("with others who are faster", { storeOf: (store) => faultyStore(store, fault, ["put"]) }, [
    { status: 409, when: (described) => !isUpload(described), ...lost },
  ]);
}

function crowded(): Stage {
  let isOver = false;
  const result = () => ({ allowed: !isOver, remaining: isOver ? 0 : 1, resetMs: 1000 });
  const rateLimiter = {
    consume: async () => result(),
    peek: async () => result(),
    async refund() {},
    async close() {},
  };
  return stage("over its limits", { images: { rateLimiter }, lookup: { rateLimiter } }, [
    {
      status: 429,
      arm() {
        isOver = true;
      },
      disarm() {
        isOver = false;
      },
    },
  ]);
}

function limited(): Stage {
  const start = () =>
    startApi({ images: { renderer: { ...createHeaderRenderer(), canRender: () => false } } });
  return {
    name: "that can draw nothing else",
    start,
    scenes: [
      {
        status: 501,
        when: isViewer,
        subject: (site) => readyImage(site, flatGif(), "image/gif"),
        alter: withQuery("download", "png"),
      },
      {
        status: 501,
        subject: (site, { path }) =>
          path.endsWith(".gif") ? readyImage(site) : readyImage(site, flatGif(), "image/gif"),
      },
    ],
  };
}

function owning(): Stage {
  const fault: Fault = { error: null };
  let waitMs = 0;
  const options: ApiSiteOptions = {
    storeOf(store) {
      const faulted = faultyStore(store, fault, ["put", "get", "list"]);
      return { ...faulted, put: async (...given) => delay(waitMs).then(() => faulted.put(...given)) };
    },
    images: {
      authorize: (_call, action) =>
        /^(?:list|removeAll)$/.test(action) ? { owner: "anna", all: true } : undefined,
    },
  };
  const when = ({ path }: Described) => path === "/api/owned.json";
  const subject = async (site: ApiSite) => {
    await site.maker.images.add(flatGif(), { owner: "anna" });
    return readyImage(site);
  };
  const slow = {
    arm() {
      waitMs = 2100;
    },
    disarm() {
      waitMs = 0;
    },
  };
  const noSpace = switchOf(fault, new ServiceError("no_space", "The disk is full"));
  return stage("whose host names owners", options, [
    { status: 202, when, subject, ...slow },
    { status: 200, when, subject },
    { status: 500, when, ...switchOf(fault, new Error("a bug")) },
    { status: 507, when, ...noSpace },
  ]);
}

function silent(): Stage {
  const prober: MailProber = {
    probe: (_local, _domain, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new ServiceError("overloaded", "It was given up")));
      }),
    async close() {},
  };
  return stage("that asks servers which say nothing", { lookup: { prober } }, [
    { status: 202, when: isLookup, alter: (sent) => ({ ...sent, target: `${sent.target}&max_duration=3` }) },
  ]);
}

function suppressing(): Stage {
  return {
    name: "with a suppressed person",
    async start() {
      const site = await startApi();
      await site.made.lookup.suppress(ADA.address);
      return site;
    },
    scenes: [{ status: 451, when: (described) => isLookup(described) && !isOfImage(described) }],
  };
}
