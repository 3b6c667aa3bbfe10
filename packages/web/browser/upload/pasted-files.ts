/** Files on the clipboard of a paste event, named after the moment: browsers call every picture `image.png`. */
export function pastedFiles(clipboard: DataTransfer | null, now: Date): File[] {
  return [...(clipboard?.files ?? [])].map((file) => {
    if (!/^image\.\w+$/.test(file.name)) return file;
    const ending = file.name.slice("image".length);
    return new File([file], `pasted ${momentText(now)}${ending}`, { type: file.type });
  });
}

function momentText(moment: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  const day = [moment.getFullYear(), two(moment.getMonth() + 1), two(moment.getDate())].join("-");
  return `${day} ${[moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(two).join(".")}`;
}
