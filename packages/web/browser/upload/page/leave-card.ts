import { CHOOSER_ID } from "./DropArea.tsx";

/** Moves the focus off a card that is about to be removed: to the neighbouring card, else to the file chooser. */
export function leaveCard(card: Element | null): void {
  const focused = document.activeElement;
  // After the focused element is removed, the body has the focus.
  if (card === null || !(focused === document.body || card.contains(focused))) return;
  const neighbour = card.nextElementSibling ?? card.previousElementSibling;
  const target = neighbour?.querySelector("input, summary, button") ?? document.getElementById(CHOOSER_ID);
  if (target instanceof HTMLElement) target.focus();
}
