/**
 * The text without the run of these characters at its end. An expression such as `/=+$/` looks at a run in the middle once from each
 * of its characters.
 */
export function trimTrailing(text: string, chars: string): string {
  let end = text.length
  while (end > 0 && chars.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}
