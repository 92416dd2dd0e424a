/** Writes the status of a workload. Empty fields are omitted, as in the JSON of the Go type. */
import type { ObjectOf, ResourceType } from '../../../api/group-version-kind.ts'
import type { DeepReadonly } from '../../../api/json.ts'
import { effectiveMergePatch } from '../../../api/merge-patch.ts'
import { isNotFound } from '../../../client/api-error.ts'
import type { ReconcileContext } from '../../../controller/reconciler.ts'
import type { ReadonlyObject } from '../api-types.ts'

/**
 * Writes the fields of `status` that differ from the status of `object`, and resolves with the stored object. If there is nothing to write,
 * or the object does not exist, resolves with `object`.
 *
 * A field that is undefined, 0 or an empty list is removed, as with Go's `omitempty`, unless `always` contains the name of the field.
 *
 * @param annotations annotations that the same request sets on the object.
 */
export async function writeStatus<R extends ResourceType>(
  type: R,
  object: DeepReadonly<ObjectOf<R>>,
  status: Readonly<Record<string, unknown>>,
  { client }: Pick<ReconcileContext, 'client'>,
  always: readonly string[] = ['replicas'],
  annotations?: Readonly<Record<string, string>>,
): Promise<DeepReadonly<ObjectOf<R>>> {
  const isOmitted = (value: unknown): boolean => value === undefined || value === 0 || (Array.isArray(value) && value.length === 0)
  const fields = Object.entries(status).map(([name, value]) => [name, isOmitted(value) && !always.includes(name) ? null : value])
  const stored: ReadonlyObject & { readonly status?: unknown } = object
  const changed = effectiveMergePatch(stored.status, Object.fromEntries(fields))
  if (changed === undefined && annotations === undefined) return object
  const patch: object = { ...(annotations && { metadata: { annotations } }), ...(changed !== undefined && { status: changed }) }
  const untyped: ResourceType = type
  try {
    return (await client.patch(untyped, stored.metadata, patch, { subresource: 'status' })) as DeepReadonly<ObjectOf<R>>
  } catch (error) {
    if (!isNotFound(error)) throw error
    return object
  }
}
