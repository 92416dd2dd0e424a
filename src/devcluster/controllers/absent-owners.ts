/** The owners that the API server has reported as missing. */
import type { ObjectKey } from '../../api/object.ts'
import type { ResourceType } from '../../api/group-version-kind.ts'

/** Maximum number of owners that are remembered (k8s.io/kubernetes/pkg/controller/garbagecollector: absentOwnerCache). */
export const maxAbsentOwners = 500

/**
 * Remembers the last 500 owners that do not exist, so that one request is enough for all dependents of a missing owner. An absent owner
 * stays absent, because the API server never uses a UID twice. Only the restore of a snapshot can create an object with an earlier UID.
 */
export class AbsentOwners {
  readonly #owners = new Set<string>()

  has(type: ResourceType, key: ObjectKey, uid: string): boolean {
    return this.#owners.has(textOf(type, key, uid))
  }

  add(type: ResourceType, key: ObjectKey, uid: string): void {
    this.#owners.add(textOf(type, key, uid))
    const [oldest] = this.#owners
    if (this.#owners.size > maxAbsentOwners && oldest !== undefined) this.#owners.delete(oldest)
  }
}

function textOf({ group, plural }: ResourceType, { namespace, name }: ObjectKey, uid: string): string {
  return JSON.stringify([group, plural, namespace, name, uid])
}
