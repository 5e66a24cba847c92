// One way to search for all lists of the page.

/** Small letters without accents. */
function plain(words: string): string {
  return words.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
}

/** Whether every word of a search is somewhere in a text, in any order, accents and capitals aside. */
export function fits(text: string, search: string): boolean {
  const within = plain(text);
  return plain(search)
    .split(/\s+/)
    .every((word) => within.includes(word));
}
