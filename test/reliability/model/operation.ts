/** An operation on an image; names and times are unique in a history, so a read shows whose change it saw. */
export type Operation =
  | { kind: "read" | "picture" | "withhold" | "release" | "sweep" | "expire" }
  | { kind: "rename"; name: string; ifMatch: string | null }
  | { kind: "prolong"; expiresAt: number; ifMatch: string | null }
  | { kind: "delete"; ifMatch: string | null };

/** The outcome of an operation. */
export interface Outcome {
  status: number;
  /** Fields of the record, if one was sent. */
  name?: string;
  expiresAt?: number;
  etag?: string;
  /** For a read of the picture: whether its bytes were those uploaded. */
  isWhole?: boolean;
}

/** An operation as its client saw it; times in milliseconds of one clock. */
export interface HistoryEvent {
  operation: Operation;
  outcome: Outcome;
  invokedAt: number;
  returnedAt: number;
}
