/**
 * Properties of a Pod spec. The rules for containers and volumes depend on these properties, which are computed once for each validation.
 */
import type { JsonObject } from '../../../../api/json.ts'
import { at, listAt, textAt } from '../../../apimachinery/unstructured.ts'
import { objects } from '../field-checks.ts'

export interface PodFacts {
  /** The name of the Pod. For a Pod template, the name is undefined, and some rules do not apply. */
  readonly podName: string | undefined
  /** The valid volumes, keyed by their names. */
  readonly volumes: ReadonlyMap<string, JsonObject>
  /** The names in `resourceClaims`. */
  readonly claims: ReadonlySet<string>
  readonly gracePeriodSeconds: number | undefined
  readonly restartPolicy: string
  /** False when the Pod has its own user namespace. */
  readonly usesHostUsers: boolean
}

export function podFacts(spec: JsonObject, volumes: ReadonlyMap<string, JsonObject>, podName: string | undefined): PodFacts {
  const grace = spec.terminationGracePeriodSeconds
  const claims = listAt(spec, 'resourceClaims').map((claim) => textAt(claim, 'name'))
  return {
    podName,
    volumes,
    claims: new Set(claims.filter((name) => name !== '')),
    gracePeriodSeconds: typeof grace === 'number' ? grace : undefined,
    restartPolicy: textAt(spec, 'restartPolicy'),
    usesHostUsers: spec.hostUsers !== false,
  }
}

const containerFields = ['initContainers', 'containers', 'ephemeralContainers']

/** Returns all containers with their paths, in the order of k8s.io/kubernetes/pkg/apis/core/pods: VisitContainersWithPath. */
export function containersOf(spec: JsonObject, path: string): (readonly [container: JsonObject, path: string])[] {
  return containerFields.flatMap((field) =>
    objects(listAt(spec, field)).map(([container, index]) => [container, `${path}.${field}[${index}]`] as const),
  )
}

/** Returns the name of the operating system of a Pod, or undefined if the Pod has no `spec.os`. */
export function osOf(spec: JsonObject): string | undefined {
  return at(spec, 'os') === undefined ? undefined : textAt(spec, 'os', 'name')
}
