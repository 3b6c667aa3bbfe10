/** Adds a button to an animation. Stopped, it shows its first frame, as it does at first under reduced motion. */
export function playAnimations(): void {
  const still = document.querySelector<HTMLSourceElement>(".stage source");
  if (still === null) return;
  let isPlaying = !window.matchMedia(still.media).matches;
  const button = document.createElement("button");
  button.type = "button";
  const show = () => {
    button.textContent = isPlaying ? "Stop animation" : "Play animation";
  };
  button.addEventListener("click", () => {
    isPlaying = !isPlaying;
    still.media = isPlaying ? "not all" : "all";
    show();
  });
  show();
  const caption = document.createElement("figcaption");
  caption.append(button);
  document.querySelector("figure")?.append(caption);
}
