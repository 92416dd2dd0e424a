/** The manager of the fields that a request writes. */
import type { GroupVersionKind } from '../../api/group-version-kind.ts'
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import type { Writer } from '../apply/managed-fields.ts'
import type { AppliedType } from '../apply/server-side-apply.ts'
import { managersAfterUpdate, writeManagers } from '../apply/managed-fields.ts'
import type { VersionView } from '../conversion-webhooks/across-versions.ts'
import { withMetadata } from './metadata.ts'
import type { RequestContext } from '../apimachinery/request-context.ts'

/** Maximum length of a manager's name from a user agent (k8s.io/apimachinery/pkg/apis/meta/v1/validation: FieldManagerMaxLength). */
const maxManagerLength = 128

export function writerOf(
  type: Pick<GroupVersionKind, 'group' | 'version'>,
  context: RequestContext,
  operation: Writer['operation'],
  subresource: string,
  now: number,
): Writer {
  const userAgent = context.userAgent.split('/')[0] ?? ''
  const manager = context.fieldManager === '' ? userAgent.slice(0, maxManagerLength) || 'unknown' : context.fieldManager
  return { manager, operation, apiVersion: apiVersionOf(type), subresource, now }
}

/** Returns the object with `managedFields` after an update of `live` (undefined: a create); `view` is for `managersAfterUpdate`. */
export function trackUpdate(
  info: AppliedType,
  live: JsonObject | undefined,
  object: JsonObject,
  writer: Writer,
  view?: VersionView,
): JsonObject {
  const entries = writeManagers(managersAfterUpdate(info, live, object, writer, view))
  return withMetadata(object, { managedFields: entries.length === 0 ? undefined : entries })
}
