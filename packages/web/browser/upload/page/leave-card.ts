import { CHOOSER_ID } from "./DropArea.tsx";

/** Puts the focus where somebody will go on when a card is about to vanish: on the next card, else on the file chooser. */
export function leaveCard(card: Element | null): void {
  const focused = document.activeElement;
  // The body has it after the focused element has vanished.
  if (card === null || !(focused === document.body || card.contains(focused))) return;
  const neighbour = card.nextElementSibling ?? card.previousElementSibling;
  const target = neighbour?.querySelector("input, summary, button") ?? document.getElementById(CHOOSER_ID);
  if (target instanceof HTMLElement) target.focus();
}
