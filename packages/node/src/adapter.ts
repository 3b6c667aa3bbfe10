// For authors of adapters: a request of a framework as a `Call`, a `Reply` onto the connection.
export { deferContinue } from "./body-pump.ts";
export { ClientLeftError, onConnectionClose } from "./connection-close.ts";
export { type Connections, trackConnections } from "./connections.ts";
export { createCall, dispatch, sendReady } from "./dispatch.ts";
export { receiveFields, receiveText } from "./fields/receive-fields.ts";
export type { HostView } from "./host-view.ts";
export type { Incoming } from "./incoming.ts";
export { nodeView } from "./node-listener.ts";
export { problemReply } from "./problem-reply.ts";
export {
  hasSeveralHosts,
  locate,
  type MountedTarget,
  mountPathRule,
  normaliseMountPath,
  stripPrefix,
  toOriginForm,
} from "./request-target.ts";
export { sendDirectly } from "./send-directly.ts";
export { dropLateCookies, isBodyAllowed, sendReply, watchSending } from "./send-reply.ts";
export { finishRequestBody, linger } from "./unread-body.ts";
export { type HostParsed, receiveUpload } from "./upload/receive-upload.ts";
