/** `patchStatusIfChanged`: patches the fields of a status that differ, and makes no request when none differs. */
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import { effectiveMergePatch } from '../api/merge-patch.ts'
import type { KubernetesObject } from '../api/object.ts'
import { keyOf } from '../api/object.ts'
import { hasOptions, refuseOptions } from '../api/option-checks.ts'
import type { Client, WriteOptions } from '../client/client.ts'
import { writeChecks } from '../client/option-checks.ts'
import type { StatusPatch } from '../client/write-types.ts'

const checkOptions = hasOptions(writeChecks)

/**
 * Patches the fields of `status` that differ from the status of `object`. When none differs, no request is made, so that a reconcile in
 * steady state writes nothing. As in `client.patchStatus`, absent fields are unchanged, null removes a field, and a list is replaced as a
 * whole. The order of keys is irrelevant. Resolves to the patched object, or to `object` when nothing differs.
 *
 * The patch has no resourceVersion: it does not fail when `object` has changed in the meantime. Where several controllers write to one list
 * of conditions, use `client.apply` with `subresource: 'status'`, and a field manager for each controller.
 *
 * Rejects with the errors of `client.patchStatus`. Rejects with `PRO_CONFIG_INVALID` for an invalid or unknown option, even when nothing
 * differs.
 *
 * @example
 * const at = { now: clock.now(), generation: object.metadata.generation }
 * await patchStatusIfChanged(client, site, object, { conditions: mergeConditions(object.status?.conditions, [ready], at) })
 */
export async function patchStatusIfChanged<R extends ResourceType>(
  client: Pick<Client, 'patchStatus'>,
  type: R,
  object: DeepReadonly<ObjectOf<R>>,
  status: StatusPatch<NoInfer<R>>,
  options: WriteOptions = {},
): Promise<DeepReadonly<ObjectOf<R>>> {
  refuseOptions('patchStatusIfChanged', checkOptions(options, ''))
  const stored: DeepReadonly<KubernetesObject> & { readonly status?: unknown } = object
  const patch = effectiveMergePatch(stored.status, status)
  if (patch === undefined) return object
  const untyped: ResourceType = type
  return (await client.patchStatus(untyped, keyOf(stored), { status: patch }, options)) as DeepReadonly<ObjectOf<R>>
}
