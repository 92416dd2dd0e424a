/** Compares resourceVersions. */

/**
 * Compares two resourceVersions of the same resource (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions).
 * ResourceVersions are decimal numbers of any length. Only an aggregated API server may use other strings. The result is:
 *
 * - a negative number when `a` is older than `b`.
 * - 0 when `a` and `b` are equal.
 * - a positive number when `a` is newer than `b`.
 * - undefined when `a` and `b` differ, and at least one of them is not a decimal number.
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (a === b) return 0
  if (!isDecimal(a) || !isDecimal(b)) return undefined
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : 1
}

function isDecimal(text: string): boolean {
  return /^(0|[1-9]\d*)$/.test(text)
}
