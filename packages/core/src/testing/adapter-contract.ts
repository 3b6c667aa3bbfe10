import type { Service } from "../contracts/call.ts";
import { fieldsBehaviour } from "./adapter/fields.ts";
import { hostileBodiesBehaviour } from "./adapter/hostile-bodies.ts";
import { interruptedUploadsBehaviour } from "./adapter/interrupted-uploads.ts";
import { leavingBehaviour } from "./adapter/leaving.ts";
import { oversizedUploadsBehaviour } from "./adapter/oversized-uploads.ts";
import { repliesBehaviour } from "./adapter/replies.ts";
import { routingBehaviour } from "./adapter/routing.ts";
import { uploadTurnsBehaviour } from "./adapter/upload-turns.ts";
import { uploadsBehaviour } from "./adapter/uploads.ts";
import type { ConformanceTest } from "./conformance-test.ts";

/** What the host app does with request bodies before the service sees the request. */
export type HostParsing =
  /** The framework's usual parsers for JSON and urlencoded forms; multipart bodies are left alone. */
  | "fields"
  /** A multipart parser that keeps files in memory and leaves them on the request. */
  | "files"
  /** The body is read to its end and thrown away. */
  | "nothing left";

export interface AdapterHostOptions {
  /** Where the service is mounted; empty for the root. */
  mountPath: "" | "/img";
  /** A second service in the same app, mounted at `/other` behind the first. */
  other?: Service;
  /** Absent: nothing touches the body. */
  parsing?: HostParsing;
}

/** A host app that listens, with `GET /host` behind the services answering `host` where the framework has routes. */
export interface AdapterHost {
  /** Such as `http://127.0.0.1:41234`. */
  origin: string;
  /** What the host's own error handling was given last; `undefined` when nothing. */
  lastError(): unknown;
  /** Resolves when nothing listens and no connection is left. */
  close(): Promise<void>;
}

export interface AdapterHarness {
  /** A host app on a free port of 127.0.0.1, with the adapter to be tested between it and `service`. */
  start(service: Service, options: AdapterHostOptions): Promise<AdapterHost>;
  /** Whether the host has routes of its own behind the service. `false`: the adapter itself answers what is not ours. */
  hasHostRoutes: boolean;
  /** Which of the host's ways with bodies `start` can set up. */
  parsing: readonly HostParsing[];
}

/**
 * What every adapter between a framework and the services must do. Runs against a real server of the framework, with
 * clients made of `node:http` and `node:net`.
 *
 * @param test The `test` or `it` of any runner, whose time limit should be at least 30 s.
 */
export function adapterContract(test: ConformanceTest, harness: AdapterHarness): void {
  for (const mountPath of ["", "/img"] as const) {
    const where = mountPath === "" ? "at the root" : `under ${mountPath}`;
    const scoped: ConformanceTest = (name, body) => test(`${where}: ${name}`, body);
    const scope = { test: scoped, harness, mountPath };
    routingBehaviour(scope);
    repliesBehaviour(scope);
    leavingBehaviour(scope);
    uploadsBehaviour(scope);
    uploadTurnsBehaviour(scope);
    oversizedUploadsBehaviour(scope);
    interruptedUploadsBehaviour(scope);
    hostileBodiesBehaviour(scope);
    fieldsBehaviour(scope);
  }
}
