/**
 * Server-side apply to the scale subresource: applies a configuration to a Scale. The managers of the Scale's `spec.replicas` become
 * managers of the replicas field of the scaled object.
 */
import type { JsonObject } from '../../../api/json.ts'
import { jsonEqual } from '../../../api/json.ts'
import type { ObjectKey } from '../../../api/object.ts'
import { checkFields } from '../../apply/check-fields.ts'
import type { Writer } from '../../apply/manager-entry.ts'
import { scaleType } from '../../apply/scale-managers.ts'
import { applyConfiguration, namedIn } from '../../apply/server-side-apply.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { asGo } from '../../types/go-value.ts'
import { metadataOf, metadataText, withMetadata } from '../metadata.ts'
import { bareError, conflict } from '../../apimachinery/status-error.ts'

export interface AppliedScale {
  readonly config: JsonObject
  /** The configuration as the client sent it, for error messages. */
  readonly named: JsonObject
  readonly force: boolean
  readonly writer: Writer
}

/**
 * Returns the Scale with the configuration applied and with updated managedFields. If the configuration contains `spec.replicas`, the
 * manager of the request becomes an owner of the replicas.
 *
 * For the Scale of a custom resource, the request fails in two cases: if the Scale has no managedFields, or if the configuration changes a
 * field of the Scale other than `managedFields`. In both cases, kube-apiserver tries to convert the Scale as if the Scale were the custom
 * resource, and this conversion fails (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion: converter.go).
 */
export function applyScale(
  info: ResourceInfo,
  key: ObjectKey,
  scale: JsonObject,
  { config: given, named, force, writer }: AppliedScale,
): JsonObject {
  if (info.custom && metadataOf(scale).managedFields === undefined)
    throw bareError(`failed to create manager for existing fields: ${unconverted('live', {})}`)
  const config = given.spec === null ? { ...given, spec: {} } : given
  checkFields(scaleType, config, named)
  const applied = applyConfiguration({ info: scaleType, live: scale, config, named, force, writer })
  if (info.custom && !jsonEqual(untracked(applied), untracked(scale))) throw bareError(unconverted('new', named))
  const [uid, expected] = [metadataText(applied, 'uid'), metadataText(scale, 'uid')]
  if (uid !== expected) {
    const subject = { ...info, plural: `${info.plural}/scale` }
    throw conflict(subject, key.name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${expected}`)
  }
  return applied
}

/** Returns kube-apiserver's error message for a Scale that it cannot convert. */
function unconverted(what: 'live' | 'new', named: JsonObject): string {
  return `failed to convert ${what} object (${namedIn(scaleType, { ...named, apiVersion: 'autoscaling/v1' })}) to proper version: request to convert CR to an invalid group/version: autoscaling/v1`
}

function untracked(scale: JsonObject): JsonObject {
  const { goType } = scaleType
  const object = withMetadata(scale, { managedFields: undefined })
  return goType === undefined ? object : asGo(goType, object)
}
