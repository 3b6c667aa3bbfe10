import type { Operation, Outcome } from "./operation.ts";

/** An image as the protocol defines it, one operation after the other. */
export interface ImageModel {
  name: string;
  expiresAt: number;
  isDeleted: boolean;
  isExpired: boolean;
  isWithheld: boolean;
  /** Entity tag of the record; `null` until a client has seen it. */
  etag: string | null;
  /** Earlier tags: none of them may come back. */
  formerEtags: readonly string[];
}

/** A lost race answers 409, but only if there was a race. */
export interface Surroundings {
  isContended: boolean;
}

/** The image after an operation with this outcome; `null` if that outcome is impossible. */
export function step(
  image: ImageModel,
  operation: Operation,
  outcome: Outcome,
  { isContended }: Surroundings,
): ImageModel | null {
  switch (operation.kind) {
    case "expire":
      return { ...image, isExpired: true };
    case "sweep":
      return outcome.status === 204 ? image : null;
    case "withhold":
    case "release":
      if (isOver(image)) return outcome.status === 404 ? image : null;
      if (outcome.status !== 204) return null;
      // A release of an image that is not withheld changes nothing.
      if (operation.kind === "release" && !image.isWithheld) return image;
      return changed({ ...image, isWithheld: operation.kind === "withhold" });
    case "picture":
      return outcome.status === readStatus(image) && outcome.isWhole !== false ? image : null;
    case "read":
      if (outcome.status !== readStatus(image)) return null;
      return outcome.status === 200 ? seen(image, outcome) : image;
    default:
      return edit(image, operation, outcome, isContended);
  }
}

function edit(
  image: ImageModel,
  operation: Extract<Operation, { ifMatch: string | null }>,
  outcome: Outcome,
  isContended: boolean,
): ImageModel | null {
  const { status } = outcome;
  if (status === 409) return isContended ? image : null;
  // Time passed during the check: its new expiry now lies in the past as well.
  if (status === 400) return operation.kind === "prolong" && image.isExpired ? image : null;
  const refusal = readStatus(image);
  if (refusal !== 200) return status === refusal ? image : null;
  const { ifMatch } = operation;
  if (status === 412) return ifMatch !== null && ifMatch !== image.etag ? image : null;
  if (ifMatch !== null && !mayBe(image, ifMatch)) return null;
  if (operation.kind === "delete") return status === 204 ? changed({ ...image, isDeleted: true }) : null;
  if (status !== 200) return null;
  const { name, expiresAt } = image;
  const change = operation.kind === "rename" ? { name: operation.name } : { expiresAt: operation.expiresAt };
  return seen(changed({ ...image, name, expiresAt, ...change }), outcome);
}

function isOver({ isDeleted, isExpired }: ImageModel): boolean {
  return isDeleted || isExpired;
}

function readStatus(image: ImageModel): number {
  if (image.isWithheld) return 451;
  return isOver(image) ? 410 : 200;
}

function changed(image: ImageModel): ImageModel {
  if (image.etag === null) return image;
  return { ...image, etag: null, formerEtags: [...image.formerEtags, image.etag] };
}

function mayBe({ etag, formerEtags }: ImageModel, tag: string): boolean {
  return etag === null ? !formerEtags.includes(tag) : etag === tag;
}

/** The image after a client has seen its record; `null` if the record is impossible. */
function seen(image: ImageModel, { name, expiresAt, etag }: Outcome): ImageModel | null {
  if (name !== image.name || expiresAt !== image.expiresAt) return null;
  if (etag === undefined || !mayBe(image, etag)) return null;
  return { ...image, etag };
}
