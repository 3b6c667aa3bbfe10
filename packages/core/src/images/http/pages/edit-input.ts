import type { EditInput, EditView } from "../../../contracts/pages.ts";
import type { PicturePoint } from "../../../contracts/renderer.ts";
import { isServiceError } from "../../../errors.ts";
import { patternOf } from "../../../schema/json-schema.ts";
import type { ImageChange } from "../../library/change-image.ts";
import { type LifetimeLimits, parseDescription, parseName } from "../../record/image-fields.ts";
import type { ImageRecord } from "../../record/image-record.ts";
import { parseDate } from "../../record/parse-date.ts";
import { PERCENT_TEXT_SCHEMA, pointOf } from "../../record/picture-point.ts";
import type { RequestParameters } from "../image-context.ts";

/** The messages about single fields of a rejected form. */
export type EditFaults = NonNullable<EditView["faults"]>;

/** A date and time without a zone, as browsers send it. */
const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?$/;
const OFFSET = /^[+-]\d{2}:\d{2}$/;

/**
 * The values of the form as they were sent. A form without the field `expiry` chooses by the field that is filled in. A form
 * without fields for the description or the focus keeps them.
 */
export function readInput(record: ImageRecord, parameters: RequestParameters): EditInput {
  const text = (name: string) => {
    const value = parameters.get(name);
    return value === undefined || value === null ? "" : String(value);
  };
  const name = parameters.get("name") === undefined ? record.name : text("name");
  const description =
    parameters.get("description") === undefined ? (record.description ?? "") : text("description");
  const expiresIn = text("expiresIn").trim();
  const expiresAt = text("expiresAt").trim();
  const chosen = text("expiry");
  const expiry =
    chosen === "keep" || chosen === "in" || chosen === "on" || chosen === "never"
      ? chosen
      : expiresIn !== ""
        ? "in"
        : expiresAt !== ""
          ? "on"
          : "keep";
  const [focusX, focusY] =
    parameters.get("focusX") === undefined && parameters.get("focusY") === undefined
      ? (record.focus?.map(percentOf) ?? ["", ""])
      : [text("focusX"), text("focusY")];
  return {
    name,
    description,
    expiry,
    expiresIn,
    expiresAt,
    utcOffset: text("utcOffset").trim(),
    focusX: focusX ?? "",
    focusY: focusY ?? "",
  };
}

/** The change that a form requests, without fields that stay the same; or the messages about its fields. */
export function changeOf(
  record: ImageRecord,
  input: EditInput,
  nowMs: number,
  limits: LifetimeLimits,
): { change: ImageChange } | { faults: EditFaults } {
  const name = parsed(() => parseName(input.name), "Enter a name of at most 255 characters.");
  const description = parsed(
    () => parseDescription(input.description) ?? null,
    "Enter a description of at most 1,000 characters.",
  );
  const expiry = expiryOf(input, nowMs, limits);
  const focus = focusOf(input);
  const faults: EditFaults = {
    ...("fault" in name ? { name: name.fault } : name.value === undefined ? { name: "Enter a name." } : {}),
    ...("fault" in description ? { description: description.fault } : {}),
    ...("fault" in expiry ? { [expiry.field]: expiry.fault } : {}),
    ...("faults" in focus ? focus.faults : {}),
  };
  if ("fault" in name || name.value === undefined) return { faults };
  if ("fault" in description || "fault" in expiry || "faults" in focus) return { faults };
  return {
    change: {
      ...(name.value === record.name ? {} : { name: name.value }),
      ...(description.value === (record.description ?? null) ? {} : { description: description.value }),
      ...(expiry.value === undefined || expiry.value === record.expiresAt ? {} : { expiresAt: expiry.value }),
      ...(String(focus.value) === String(record.focus ?? null) ? {} : { focus: focus.value }),
    },
  };
}

/** @param fault The message if `parse` rejects the value. */
function parsed<T>(parse: () => T, fault: string): { value: T } | { fault: string } {
  try {
    return { value: parse() };
  } catch (error) {
    if (!isServiceError(error, "bad_request")) throw error;
    return { fault };
  }
}

/** `null`: never. `undefined`: unchanged. */
type Expiry = { value: number | null | undefined } | { field: "expiresIn" | "expiresAt"; fault: string };

const CONTRADICTION = {
  keep: "You chose “Don’t change”. To change the expiry, choose “In” or “On”. To keep it, clear this field.",
  in: "You chose “In”. To set a date, choose “On”. To set a duration, clear this field.",
  on: "You chose “On”. To set a duration, choose “In”. To set a date, clear this field.",
  never: "You chose “Never”. To set an expiry, choose “In” or “On”. To set none, clear this field.",
} as const;

const NO_END = "Every image expires here. Choose “In” or “On”.";

function expiryOf(
  { expiry, expiresIn, expiresAt, utcOffset }: EditInput,
  nowMs: number,
  { maxLifetimeMs }: LifetimeLimits,
): Expiry {
  if (expiry !== "on" && expiresAt !== "") return { field: "expiresAt", fault: CONTRADICTION[expiry] };
  if (expiry !== "in" && expiresIn !== "") return { field: "expiresIn", fault: CONTRADICTION[expiry] };
  if (expiry === "keep") return { value: undefined };
  if (expiry === "never")
    return maxLifetimeMs === null ? { value: null } : { field: "expiresAt", fault: NO_END };
  const field = expiry === "in" ? "expiresIn" : "expiresAt";
  const value = expiry === "in" ? afterNow(expiresIn, nowMs) : parseDate(inZone(expiresAt, utcOffset), true);
  if (value === null) {
    return { field, fault: expiry === "in" ? "Choose a duration." : "Enter a date and a time." };
  }
  if (value <= nowMs) return { field, fault: "Choose a time in the future." };
  if (maxLifetimeMs !== null && value > nowMs + maxLifetimeMs) {
    return { field, fault: `Choose a time before ${new Date(nowMs + maxLifetimeMs).toISOString()}.` };
  }
  return { value };
}

/** The point that two percentages name; `null` if both are empty. */
function focusOf({ focusX, focusY }: EditInput): { value: PicturePoint | null } | { faults: EditFaults } {
  if (focusX === "" && focusY === "") return { value: null };
  const faults = {
    ...(isPercent(focusX) ? {} : { focusX: focusX === "" ? HALF_A_POINT : NO_PERCENT }),
    ...(isPercent(focusY) ? {} : { focusY: focusY === "" ? HALF_A_POINT : NO_PERCENT }),
  };
  const value = pointOf([Number(focusX) / 100, Number(focusY) / 100]);
  return value === null || Object.keys(faults).length > 0 ? { faults } : { value };
}

const NO_PERCENT = "Enter a number from 0 to 100.";
const HALF_A_POINT = "Enter both numbers, or clear both to keep the centre.";

const PERCENT = patternOf(PERCENT_TEXT_SCHEMA);

function isPercent(text: string): boolean {
  return text !== "" && PERCENT.test(text);
}

/** A share as the text of its percentage, with the digits that are stored: `33.33`. */
function percentOf(share: number): string {
  return String(Number((share * 100).toFixed(2)));
}

function afterNow(duration: string, nowMs: number): number | null {
  return /^\d{1,15}$/.test(duration) ? nowMs + Number(duration) : null;
}

/** Without JavaScript the form has no offset and asks for UTC. */
function inZone(date: string, utcOffset: string): string {
  return WITHOUT_ZONE.test(date) ? date + (OFFSET.test(utcOffset) ? utcOffset : "Z") : date;
}
