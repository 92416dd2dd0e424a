/**
 * `patchStatusIfChanged`: patches only the fields of a status whose new values differ from the values in the object. If no value differs,
 * no request is sent.
 */
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
 * Patches the fields of `status` that differ from the status of `object`, and resolves to the patched object. If no field differs, sends no
 * request, and resolves to `object`. As in `client.patchStatus`, absent fields are unchanged, null removes a field, and a list is replaced
 * as a whole. The order of keys is irrelevant.
 *
 * The patch has no resourceVersion, so it does not fail when another client has changed the object after `object` was read. A patch of the
 * conditions can therefore overwrite the conditions of another controller. If several controllers write to the same list of conditions, use
 * `client.apply` with `subresource: 'status'`, and a different field manager for each controller.
 *
 * @example
 * const at = { now: clock.now(), generation: object.metadata.generation }
 * await patchStatusIfChanged(client, site, object, { conditions: mergeConditions(object.status?.conditions, [ready], at) })
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` for an invalid or unknown option, even if no field differs.
 * @throws the errors of `client.patchStatus`.
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
