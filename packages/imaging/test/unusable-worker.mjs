/** A worker that cannot load its libraries. */
import { receive, send } from "./worker-pipe.mjs";

receive(() => {});
send({ kind: "unusable", reason: "a library is missing" });
