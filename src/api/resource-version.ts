/** Compares resourceVersions. */

/**
 * Compares two resourceVersions of the same resource. Returns a negative number when `a` is older than `b`, 0 when they are equal, and a
 * positive number when `a` is newer. ResourceVersions are decimal numbers of any length
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions).
 *
 * An aggregated API server may use other strings as resourceVersions. If `a` and `b` differ, and one of the two strings is not a decimal
 * number, the function returns undefined.
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
