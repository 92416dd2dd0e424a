/** Finds the Pod and the container of a request for a log, an exec, an attach or a port-forward. */
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { badRequest } from '../../apimachinery/status-error.ts'
import type { ContainerTarget } from '../../rest/container-access.ts'

/** The data of a Pod in the registry. */
export interface StoredPod {
  readonly name: string
  readonly uid: string
  /** True when the scheduler has chosen a node. */
  readonly isScheduled: boolean
  readonly spec: JsonObject
}

export function storedPod({ metadata, spec }: JsonObject): StoredPod {
  const { name, uid } = isObject(metadata) ? metadata : {}
  const ownSpec = isObject(spec) ? spec : {}
  return { name: String(name), uid: String(uid), isScheduled: Boolean(ownSpec.nodeName), spec: ownSpec }
}

/**
 * Returns the container with the name `requested`. If `requested` is empty, returns the only container in `spec.containers`
 * (k8s.io/kubernetes/pkg/registry/core/pod: validateContainer). The annotation `kubectl.kubernetes.io/default-container` has no effect
 * here: kubectl reads the annotation and sends the container's name.
 *
 * @throws {StatusError} 400 when no container has this name, or when `requested` is empty and `spec.containers` does not have exactly one
 *   container.
 */
export function targetContainer({ name, uid, spec }: StoredPod, requested: string): ContainerTarget & { readonly tty: boolean } {
  const regular = containersOf(spec.containers)
  const all = [...containersOf(spec.initContainers), ...regular, ...containersOf(spec.ephemeralContainers)]
  if (requested === '' && regular.length !== 1) {
    const choice = regular.length === 0 ? '' : `, choose one of: [${all.map((container) => String(container.name)).join(' ')}]`
    throw badRequest(`a container name must be specified for pod ${name}${choice}`)
  }
  const container = requested === '' ? regular[0] : all.find((candidate) => candidate.name === requested)
  if (container === undefined) throw badRequest(`container ${requested} is not valid for pod ${name}`)
  return { pod: name, uid, container: String(container.name), tty: container.tty === true }
}

function containersOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
