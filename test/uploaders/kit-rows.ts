import type { Locator, Page } from "playwright-core";
import type { ChosenFile } from "../browser/upload-page.ts";

/** How a user works with a kit of docs/uploaders.md. */
export interface Kit {
  name: string;
  /** The block's file name without its suffix. */
  module: string;
  /** What the page has for the kit, as HTML. */
  element: string;
  choose(tab: Page, file: ChosenFile): Promise<void>;
  /** What the user does after an upload. Absent: nothing. */
  finish?(tab: Page): Promise<void>;
  /** The uploaded picture in the page or in the editor. */
  picture(tab: Page): Locator;
  /** The text that shows the reason of a refusal. Absent: an alert does. */
  reason?(tab: Page): Promise<string | null>;
}

const DIV = '<div id="uploader"></div>';
const shown = (tab: Page) => tab.locator("body > img");

/** Drops a file on an element. */
async function drop(tab: Page, target: Locator, { name, mimeType, buffer }: ChosenFile): Promise<void> {
  const dataTransfer = await tab.evaluateHandle(
    ([text, fileName, type]) => {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], fileName, { type }));
      return transfer;
    },
    [buffer.toString("base64"), name, mimeType] as const,
  );
  const { x = 0, y = 0 } = (await target.boundingBox()) ?? {};
  for (const event of ["dragenter", "dragover", "drop"])
    await target.dispatchEvent(event, { dataTransfer, clientX: x + 5, clientY: y + 5 });
}

/** Chooses a file in the dialog that a click opens. */
async function chooseBy(tab: Page, button: Locator, file: ChosenFile): Promise<void> {
  const [chooser] = await Promise.all([tab.waitForEvent("filechooser"), button.click()]);
  await chooser.setFiles(file);
}

const uppy: Omit<Kit, "name" | "module"> = {
  ...{ element: DIV, picture: shown },
  async choose(tab, file) {
    await chooseBy(tab, tab.getByRole("button", { name: "browse files" }), file);
    await tab.getByRole("button", { name: "Upload 1 file" }).click();
  },
  reason: (tab) => tab.locator(".uppy-Dashboard-Item-errorDetails").getAttribute("aria-label"),
};

export const KITS: readonly Kit[] = [
  { ...uppy, name: "Uppy (XHR)", module: "uppy-xhr" },
  { ...uppy, name: "Uppy (tus)", module: "uppy-tus" },
  {
    ...{ name: "FilePond", module: "filepond", element: '<input type="file" id="uploader">' },
    choose: async (tab, file) => chooseBy(tab, tab.locator(".filepond--label-action"), file),
    picture: shown,
    reason: (tab) => tab.locator(".filepond--file-status-main").textContent(),
  },
  {
    ...{ name: "Dropzone", module: "dropzone", element: '<form id="uploader" class="dropzone"></form>' },
    choose: (tab, file) => chooseBy(tab, tab.getByRole("button"), file),
    picture: shown,
    reason: (tab) => tab.locator("[data-dz-errormessage]").textContent(),
  },
  {
    ...{ name: "CKEditor 5", module: "ckeditor", element: DIV },
    choose: (tab, file) => chooseBy(tab, tab.getByRole("button", { name: "Upload image" }), file),
    picture: (tab) => tab.locator(".ck-content figure:not(.ck-appear) img"),
  },
  {
    ...{ name: "TinyMCE", module: "tinymce", element: '<textarea id="uploader"></textarea>' },
    async choose(tab, file) {
      await tab.getByRole("button", { name: "Insert/edit image" }).click();
      await tab.getByRole("tab", { name: "Upload" }).click();
      await tab.locator('input[type="file"]').setInputFiles(file);
    },
    finish: (tab) => tab.getByRole("button", { name: "Save" }).click(),
    picture: (tab) => tab.frameLocator("iframe").locator("img"),
    reason: (tab) => tab.locator(".tox-alert-dialog").textContent(),
  },
  {
    ...{ name: "Tiptap", module: "tiptap", element: DIV },
    choose: (tab, file) => drop(tab, tab.locator(".tiptap"), file),
    picture: (tab) => tab.locator(".tiptap img[alt]"),
  },
  {
    ...{ name: "Editor.js", module: "editorjs", element: DIV },
    async choose(tab, file) {
      await tab.locator(".ce-paragraph").click();
      await tab.locator(".ce-toolbar__plus").click();
      await chooseBy(tab, tab.locator('.ce-popover-item[data-item-name="image"]'), file);
    },
    picture: (tab) => tab.locator(".image-tool__image-picture"),
    reason: (tab) => tab.locator(".cdx-notifies").textContent(),
  },
  {
    ...{ name: "react-dropzone", module: "react-dropzone", element: DIV },
    choose: (tab, file) => tab.locator('input[type="file"]').setInputFiles(file),
    picture: (tab) => tab.locator("#uploader img"),
    reason: (tab) => tab.getByRole("alert").textContent(),
  },
];
