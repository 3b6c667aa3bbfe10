/** Holds back requests while the server asked to wait or the browser is offline. */
export interface SendGate {
  /** Holds back all requests until this Unix time, milliseconds. */
  holdUntil(ms: number): void;
  /** Resolves when a request may be sent. `onWait` receives the cause of a wait and its end. */
  pass(onWait: (wait: SendWait) => void): Promise<void>;
}

export type SendWait = { cause: "offline"; untilMs: null } | { cause: "busy"; untilMs: number };

export function createSendGate(): SendGate {
  let heldUntilMs = 0;
  return {
    holdUntil(ms) {
      heldUntilMs = Math.max(heldUntilMs, ms);
    },
    async pass(onWait) {
      for (;;) {
        if (!navigator.onLine) {
          onWait({ cause: "offline", untilMs: null });
          await new Promise((resolve) => addEventListener("online", resolve, { once: true }));
        } else if (heldUntilMs > Date.now()) {
          onWait({ cause: "busy", untilMs: heldUntilMs });
          const leftMs = heldUntilMs - Date.now();
          await new Promise((resolve) => setTimeout(resolve, leftMs));
        } else return;
      }
    },
  };
}
