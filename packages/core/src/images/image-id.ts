import { randomBytes } from "node:crypto";

const IMAGE_ID = /^[A-Za-z0-9_-]{22}$/;

/** 128 random bits as 22 characters of base64url. */
export function createImageId(): string {
  return randomBytes(16).toString("base64url");
}

/** Whether `text` has the form of an image ID; nothing else ever reaches a store. */
export function isImageId(text: string): boolean {
  return IMAGE_ID.test(text);
}
