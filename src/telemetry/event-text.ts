/** The texts of an Event, limited to the lengths that the API server accepts. */

/**
 * Maximum number of characters of an Event's message (`maxMessage`), and of an Event's reason or action (`maxReason`)
 * (`k8s.io/kubernetes/pkg/apis/core/validation`: `events.go`).
 */
export const maxMessage = 1024
export const maxReason = 128
/**
 * Maximum number of characters of a field that identifies an object. The longest field is the apiVersion: 253 for the group, 1 for the
 * slash, 63 for the version.
 */
export const maxIdentity = 317

/**
 * Returns a text of at most `max` characters. A longer text is truncated, and ends with `…`. The result is a copy, because V8 keeps the
 * whole string in memory while a slice of the string is in use.
 */
export function shortened(text: string, max: number): string {
  return Buffer.from(text.length > max ? `${text.slice(0, max - 1)}…` : text).toString()
}
