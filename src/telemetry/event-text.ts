/** The texts of an Event, limited to the lengths that the API server accepts. */

/** Maximum number of characters of an Event's message, and of its reason and its action (`k8s.io/kubernetes/pkg/apis/core/validation`: `events.go`). */
export const maxMessage = 1024
export const maxReason = 128
/** Maximum number of characters of a field that identifies an object. The longest one is the apiVersion: a group of 253, a slash, a version of 63. */
export const maxIdentity = 317

/**
 * Returns the beginning of a text that is longer than `max` characters, with `…` at its end, and any other text as it is. The result is a
 * copy: V8 would keep all of a long string in memory for as long as a part of it is used.
 */
export function shortened(text: string, max: number): string {
  return Buffer.from(text.length > max ? `${text.slice(0, max - 1)}…` : text).toString()
}
