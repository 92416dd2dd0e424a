/** The length of a text as Kubernetes counts it: in characters, not in the units of JavaScript. */
export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}
