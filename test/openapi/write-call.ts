import type { Draft, DraftBody } from "./drafts.ts";
import { multipart, type Part } from "./multipart.ts";
import { isLookup, needsPin, targetOf } from "./plain-call.ts";
import type { Sent } from "./sender.ts";
import type { Subject } from "./subjects.ts";
import { flatPng } from "./tiny-files.ts";

/** A draft as a request to send. */
export function writeCall(draft: Draft, subject: Subject, key: string): Sent {
  const { described } = draft;
  const query = new URLSearchParams(draft.query);
  const headers: Record<string, string> = { ...draft.headers };
  if (needsPin(described)) {
    const pin = { right: subject.pin, wrong: "0000000000000000", none: null }[draft.credential];
    if (pin !== null && draft.place === "query") query.set("pin", pin);
    else if (pin !== null) headers["X-Service-Image-Pin"] = pin;
    else query.delete("pin");
  }
  if (isLookup(described)) {
    const sent = { right: key, wrong: "unknown", none: null }[draft.credential];
    if (sent !== null && draft.place === "query") query.set("api_key", sent);
    if (sent !== null && draft.place === "header") headers["X-API-KEY"] = sent;
    if (sent !== null && draft.place === "bearer") headers.Authorization = `Bearer ${sent}`;
  }
  const target = targetOf(described.path, subject, query);
  const garbled = draft.isGarbled ? `${target}${target.includes("?") ? "&" : "?"}odd=%ff` : target;
  const body = draft.body === null ? null : writeBody(draft.body);
  return {
    method: described.method,
    target: garbled,
    headers: { ...headers, ...(body === null ? {} : { "Content-Type": body.type }) },
    ...(body === null ? {} : { body: body.body }),
  };
}

function writeBody(draft: DraftBody): { type: string; body: Buffer | string } {
  switch (draft.kind) {
    case "json":
      return { type: "application/json", body: JSON.stringify(draft.value) };
    case "form":
      return { type: "application/x-www-form-urlencoded", body: String(new URLSearchParams(draft.fields)) };
    case "raw":
      return { type: draft.type, body: draft.text };
    case "multipart":
      return multipart([
        ...Object.entries(draft.fields).map(([name, value]) => ({ name, value })),
        ...filesOf(draft.files),
      ]);
  }
}

function filesOf(files: "good" | "none" | "two" | "other type"): Part[] {
  const file = { name: "imagedata", value: flatPng(), fileName: "tiny.png", type: "image/png" };
  if (files === "none") return [];
  if (files === "two") return [file, file];
  return [files === "good" ? file : { ...file, type: "image/tiff" }];
}
