/** Returns the length of a string in Unicode code points, as Kubernetes does. JavaScript's `length` counts UTF-16 units. */
export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}
