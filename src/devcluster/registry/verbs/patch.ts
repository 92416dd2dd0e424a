/** PATCH: JSON patch, merge patch and strategic merge patch. Server-side apply is in `apply.ts`. */
import { forbidden as forbiddenField } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject, stringifyJson } from '../../../api/json.ts'
import type { ObjectKey } from '../../../api/object.ts'
import { jsonPatch } from '../../patch/json-patch.ts'
import { mergePatch } from '../../patch/merge-patch.ts'
import { PatchError } from '../../patch/patch-error.ts'
import { strategicMergePatch } from '../../patch/strategic-merge-patch.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import type { StructType } from '../../types/go-types.ts'
import { kindType } from '../../types/go-types.ts'
import { checkName, checkNamespace, decodePatched, decodePatchedSubresource, decodeStrategic, refusePatch } from '../decode.ts'
import type { RequestContext } from '../../apimachinery/request-context.ts'
import { badRequest, bareError, invalidObject, unprocessable, unsupportedMediaType } from '../../apimachinery/status-error.ts'
import type { Write } from '../write/description.ts'

export interface Patch {
  readonly type: 'json' | 'merge' | 'strategic' | 'apply'
  readonly body: JsonValue
  /**
   * The duplicate keys in the body. For a JSON body, each item is the path of a key. For a YAML body, each item is an error message with a
   * line number.
   */
  readonly duplicates: readonly string[]
  /**
   * True when a server-side apply request takes the ownership of conflicting fields from other managers. Other patches must not have this
   * option.
   */
  readonly force?: boolean
}

export const patchOptions = { group: 'meta.k8s.io', kind: 'PatchOptions' }

/**
 * Returns the `Write` of a PATCH. Throws a `StatusError` for a patch with the option `force`, and for a strategic merge patch of a custom
 * resource.
 */
export function patchOf(info: ResourceInfo, key: ObjectKey, patch: Patch, context: RequestContext, subresource: string): Write {
  if (patch.force !== undefined)
    throw invalidObject(patchOptions, '', [forbiddenField('force', 'may not be specified for non-apply patch')])
  if (patch.type === 'strategic' && info.custom) {
    throw unsupportedMediaType(
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    )
  }
  return {
    key,
    subresource,
    context,
    creates: false,
    // Only a server-side apply request can create an object. Any other patch changes an existing object, so `old` is defined.
    requested: (old) => patched(info, key, subresource, old!, patch, context),
  }
}

/** Returns the patched object, decoded and with defaults. */
function patched(
  info: ResourceInfo,
  key: ObjectKey,
  subresource: string,
  old: JsonObject,
  patch: Patch,
  context: RequestContext,
): JsonObject {
  const hasOwnType = info.subresources[subresource]?.write !== undefined
  const type = typeOf(info, subresource)
  if (patch.type === 'strategic' && type !== undefined) {
    const object = attemptPatch(() => strategicMergePatch(old, patch.body, type))
    const decoded = decodeStrategic(info, type, object, patch, context)
    return hasOwnType ? decoded : named(info, decoded, key)
  }
  const object = applyPatch(old, patch)
  if (hasOwnType) return decodePatchedSubresource(info, subresource, object)
  return named(info, decodePatched(info, object, { duplicates: patch.duplicates, strictErrors: unknownMembers(patch) }, context), key)
}

/** Returns the patched object. Throws 400 when the name or namespace of the object differs from the name or namespace in the URL. */
function named(info: ResourceInfo, object: JsonObject, key: ObjectKey): JsonObject {
  checkName(object, key.name)
  checkNamespace(info, object, key.namespace)
  return object
}

/** Returns the Go type of the object or subresource that is patched; undefined for custom resources. */
function typeOf(info: ResourceInfo, subresource: string): StructType | undefined {
  const { kind, group = info.group, version = info.version } = info.subresources[subresource] ?? info
  return kindType({ group, version, kind })
}

function applyPatch(old: JsonObject, patch: Patch): JsonObject {
  const patched = attemptPatch(() => (patch.type === 'json' ? jsonPatch(old, patch.body) : mergePatch(old, patch.body)))
  if (!isObject(patched)) throw refusePatch(stringifyJson(patch.body)!, 'the result of the patch must be an object')
  return patched
}

/** Calls `patch`, and converts a `PatchError` to kube-apiserver's error response. */
function attemptPatch<Result>(patch: () => Result): Result {
  try {
    return patch()
  } catch (error) {
    if (!(error instanceof PatchError)) throw error
    if (error.reason === 'internal') throw bareError(error.message)
    throw error.reason === 'malformed' ? badRequest(error.message) : unprocessable()
  }
}

const operationMembers = ['op', 'path', 'from', 'value']

/** Returns an error message for each unknown member of a JSON patch operation. */
function unknownMembers({ type, body }: Patch): readonly string[] {
  if (type !== 'json' || !Array.isArray(body)) return []
  return body.flatMap((operation, index) =>
    Object.keys(isObject(operation) ? operation : {})
      .filter((member) => !operationMembers.includes(member))
      .map((member) => `json patch unknown field "[${index}].${member}"`),
  )
}
