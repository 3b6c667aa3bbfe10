/** What is done with an image; names and times are unique in a history, so that a read tells whose change it saw. */
export type Operation =
  | { kind: "read" | "picture" | "withhold" | "release" | "sweep" | "expire" }
  | { kind: "rename"; name: string; ifMatch: string | null }
  | { kind: "prolong"; expiresAt: number; ifMatch: string | null }
  | { kind: "delete"; ifMatch: string | null };

/** What came of it. */
export interface Outcome {
  status: number;
  /** Of a record that was sent. */
  name?: string;
  expiresAt?: number;
  etag?: string;
  /** Of a picture: whether it was the one that was uploaded. */
  isWhole?: boolean;
}

/** An operation as its client saw it; times in milliseconds of one clock. */
export interface HistoryEvent {
  operation: Operation;
  outcome: Outcome;
  invokedAt: number;
  returnedAt: number;
}
