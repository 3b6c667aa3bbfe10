import { bytesBehaviour } from "./adapter/bytes.ts";
import { fieldsBehaviour } from "./adapter/fields.ts";
import { hostileBodiesBehaviour } from "./adapter/hostile-bodies.ts";
import { interruptedUploadsBehaviour } from "./adapter/interrupted-uploads.ts";
import { leavingBehaviour } from "./adapter/leaving.ts";
import { oversizedUploadsBehaviour } from "./adapter/oversized-uploads.ts";
import { readyRepliesBehaviour } from "./adapter/ready-replies.ts";
import { repliesBehaviour } from "./adapter/replies.ts";
import { routingBehaviour } from "./adapter/routing.ts";
import type { AdapterHarness } from "./adapter/scope.ts";
import { uploadSlotsBehaviour } from "./adapter/upload-slots.ts";
import { uploadsBehaviour } from "./adapter/uploads.ts";
import type { ConformanceTest } from "./conformance-test.ts";

/**
 * Tests that an adapter between a framework and the services fulfils its contract. Runs against a real server
 * of the framework, with clients built on `node:http` and `node:net`.
 *
 * @param test The `test` or `it` of any runner, whose time limit should be at least 30 s.
 */
export function adapterContract(test: ConformanceTest, harness: AdapterHarness): void {
  for (const mountPath of ["", "/img"] as const) {
    const where = mountPath === "" ? "at the root" : `under ${mountPath}`;
    const scoped: ConformanceTest = (name, body) => test(`adapter ${where}: ${name}`, body);
    const hasWire = harness.hasWire ?? true;
    const wireTest: ConformanceTest = (name, body) => {
      if (hasWire) scoped(name, body);
    };
    const scope = { test: scoped, wireTest, hasWire, harness, mountPath };
    routingBehaviour(scope);
    repliesBehaviour(scope);
    readyRepliesBehaviour(scope);
    leavingBehaviour(scope);
    uploadsBehaviour(scope);
    uploadSlotsBehaviour(scope);
    oversizedUploadsBehaviour(scope);
    interruptedUploadsBehaviour(scope);
    hostileBodiesBehaviour(scope);
    fieldsBehaviour(scope);
    bytesBehaviour(scope);
  }
}
