// For authors of adapters: a request of a framework as a `Call`, a `Reply` onto the connection.
export { deferContinue } from "./body-pump.ts";
export { ClientLeftError, type Connections, onConnectionClose, trackConnections } from "./connections.ts";
export type { HostView } from "./dispatch.ts";
export { dispatch, NodeCall, sendReady } from "./dispatch.ts";
export type { Incoming } from "./incoming.ts";
export { nodeView } from "./node-listener.ts";
export { receiveBytes, receiveFields } from "./receive-fields.ts";
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
export {
  dropLateCookies,
  finishRequestBody,
  isBodyAllowed,
  linger,
  problemReply,
  sendReply,
  watchSending,
} from "./send-reply.ts";
export { type HostParsed, receiveUpload } from "./upload/receive-upload.ts";
