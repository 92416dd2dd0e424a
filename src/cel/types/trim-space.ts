/** The white space that Go's `strings.TrimSpace` removes. JavaScript's `trim` removes different characters. */
const space = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

/**
 * Removes white space at both ends. The text may come from a client, and can contain long runs of white space. Therefore, the time that the
 * function takes must grow only linearly with the length of the text.
 */
export function trimSpace(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && space.test(text[start]!)) start += 1
  while (end > start && space.test(text[end - 1]!)) end -= 1
  return text.slice(start, end)
}
