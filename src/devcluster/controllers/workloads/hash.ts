/** Computes the hashes in the names of ReplicaSets and ControllerRevisions. */
import { canonicalJson } from '../../../api/json.ts'

/**
 * The characters of a hash. A hash contains no vowels, and no digits that resemble vowels (k8s.io/apimachinery/pkg/util/rand:
 * SafeEncodeString).
 */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'

/**
 * Returns a hash that depends on a Pod template and on the number of collisions. As in kube-controller-manager, the hash has up to ten
 * characters. The hash differs from the hash in kube-controller-manager, which is computed from a dump of the Go struct
 * (k8s.io/kubernetes/pkg/controller: ComputeHash).
 */
export function templateHash(template: unknown, collisions: number): string {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(canonicalJson(template) + (collisions > 0 ? String(collisions) : '')))
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return encoded(hash)
}

/**
 * Returns a hash that depends on the data of a ControllerRevision and on the number of collisions. The value is the same as in
 * kube-controller-manager (k8s.io/kubernetes/pkg/controller/history: HashControllerRevision).
 */
export function dataHash(data: unknown, collisions: number): string {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(goJson(data) + String(collisions))) hash = (Math.imul(hash, 0x01000193) ^ byte) >>> 0
  return encoded(hash)
}

/** Returns the JSON of a value as Go's `json.Marshal` writes a map: with sorted keys, and with `<`, `>` and `&` as escape sequences. */
function goJson(value: unknown): string {
  return canonicalJson(value).replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function encoded(hash: number): string {
  return [...String(hash)].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('')
}
