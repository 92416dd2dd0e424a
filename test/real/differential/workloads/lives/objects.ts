/** Parts of the objects that the steps in this folder create. */
import type { Pod } from '../../../../../src/api/builtin.ts'
import type { JsonObject } from '../../../../../src/api/json.ts'

export const labels = { app: 'web' }
export const selector = { matchLabels: labels }

/** Returns a Pod template with an image. `spec` contains further fields of the Pod's spec. */
export function template(image: string, spec: JsonObject = {}): JsonObject {
  return { metadata: { labels }, spec: { containers: [{ name: 'main', image: `example.com/app:${image}` }], ...spec } }
}

/** Returns a function that selects the Pods that were created from `template(image)`. */
export function withImage(image: string): (pod: Pod) => boolean {
  return ({ spec }) => spec?.containers[0]?.image === `example.com/app:${image}`
}

/** Returns a function that selects the Pod with this name. */
export function named(name: string): (pod: Pod) => boolean {
  return ({ metadata }) => metadata.name === name
}
