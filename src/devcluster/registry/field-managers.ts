/** The field managers of an object after a write. */
import type { GroupVersionKind } from '../../api/group-version-kind.ts'
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import type { Writer } from '../apply/manager-entry.ts'
import type { AppliedType } from '../apply/applied-type.ts'
import { managersAfterUpdate, writeManagers } from '../apply/managed-fields.ts'
import type { VersionView } from '../conversion-webhooks/across-versions.ts'
import type { RequestContext } from '../apimachinery/request-context.ts'

/** Maximum length of a manager's name in bytes (k8s.io/apimachinery/pkg/apis/meta/v1/validation: FieldManagerMaxLength). */
export const maxFieldManagerBytes = 128

/**
 * Returns the field manager of a request without `fieldManager`: the user agent up to the slash (k8s.io/apiserver/pkg/endpoints/handlers:
 * prefixFromUserAgent).
 */
export function defaultFieldManager(userAgent: string): string {
  const printable = userAgent.split('/')[0]!.replace(/\p{C}/gu, '')
  return Buffer.from(printable).subarray(0, maxFieldManagerBytes).toString('utf8') || 'unknown'
}

export function writerOf(
  type: Pick<GroupVersionKind, 'group' | 'version'>,
  context: RequestContext,
  operation: Writer['operation'],
  subresource: string,
  now: number,
): Writer {
  const manager = context.fieldManager === '' ? defaultFieldManager(context.userAgent) : context.fieldManager
  return { manager, operation, apiVersion: apiVersionOf(type), subresource, now }
}

/**
 * Returns `managedFields` after a write; undefined when no field has a manager. `live` is the object before the write, and undefined for a
 * create. `object` is the object after the write. `view` converts objects to other versions (see `managersAfterUpdate`).
 */
export function managedFieldsAfter(
  info: AppliedType,
  live: JsonObject | undefined,
  object: JsonObject,
  writer: Writer,
  view?: VersionView,
): JsonValue | undefined {
  const entries = writeManagers(managersAfterUpdate(info, live, object, writer, view))
  return entries.length === 0 ? undefined : entries
}
