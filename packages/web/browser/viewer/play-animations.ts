import { button, element } from "./elements.ts";

/** Adds a button to an animation. Stopped, it shows its first frame, as it does at first under reduced motion. */
export function playAnimations(): void {
  const still = document.querySelector<HTMLSourceElement>(".stage source");
  if (still === null) return;
  let isPlaying = !window.matchMedia(still.media).matches;
  const show = () => {
    player.textContent = isPlaying ? "Stop animation" : "Play animation";
  };
  const player = button("", () => {
    isPlaying = !isPlaying;
    still.media = isPlaying ? "not all" : "all";
    show();
  });
  show();
  const caption = element("figcaption");
  caption.append(player);
  document.querySelector("figure")?.append(caption);
}
