/** Colours of the explorer, by attribute. It accepts six hexadecimal digits only. */
export const PALETTES = {
  light: {
    "bg-color": "#ffffff",
    "header-bg-color": "#f5f6f7",
    "text-color": "#1b1f24",
    "header-color": "#0b5f6e",
    "primary-color": "#0b5f6e",
    "secondary-color": "#0b5f6e",
    "nav-bg-color": "#f5f6f7",
    "nav-text-color": "#3b434c",
    "nav-hover-bg-color": "#e3e8ec",
    "nav-hover-text-color": "#0b5f6e",
  },
  dark: {
    "bg-color": "#1c2023",
    "header-bg-color": "#24292d",
    "text-color": "#e8eaed",
    "header-color": "#7fd0dc",
    "primary-color": "#7fd0dc",
    "secondary-color": "#7fd0dc",
    "nav-bg-color": "#131618",
    "nav-text-color": "#c3cad2",
    "nav-hover-bg-color": "#2b3136",
    "nav-hover-text-color": "#7fd0dc",
  },
} as const;
