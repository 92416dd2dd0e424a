/**
 * Warnings about finalizer names of custom resources (k8s.io/apiextensions-apiserver/pkg/registry/customresource: generateWarningsFromObj).
 */
import type { JsonObject } from '../../api/json.ts'
import { finalizersOf } from './metadata.ts'

const advice = 'to avoid accidental conflicts with other finalizer writers'
const kubernetesOwn: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion'])

/** Returns a warning for each finalizer without a slash. Kubernetes' own finalizers and the finalizers of `old` cause no warnings. */
export function finalizerWarnings(object: JsonObject, old?: JsonObject): string[] {
  const known = old === undefined ? [] : finalizersOf(old)
  return finalizersOf(object)
    .filter((finalizer) => finalizer !== '' && !finalizer.includes('/') && !kubernetesOwn.has(finalizer) && !known.includes(finalizer))
    .map((finalizer) => {
      const path = finalizer.includes('.') ? ' including a path (/)' : ''
      return `metadata.finalizers: ${JSON.stringify(finalizer)}: prefer a domain-qualified finalizer name${path} ${advice}`
    })
}
