/** PATCH: JSON patch, merge patch, strategic merge patch, server-side apply. */
import { forbidden as forbiddenField, required } from '../../api/field-error.ts'
import { apiVersionOf, parseApiVersion } from '../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject, stringifyJson } from '../../api/json.ts'
import type { ObjectKey } from '../../api/object.ts'
import { checkFields } from '../apply/check-fields.ts'
import { scaleType } from '../apply/scale-managers.ts'
import { applyConfiguration } from '../apply/server-side-apply.ts'
import type { VersionView } from '../conversion-webhooks/across-versions.ts'
import { acrossVersions } from '../conversion-webhooks/across-versions.ts'
import { jsonPatch } from '../patch/json-patch.ts'
import { mergePatch } from '../patch/merge-patch.ts'
import { PatchError } from '../patch/patch-error.ts'
import { strategicMergePatch } from '../patch/strategic-merge-patch.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { StructType } from '../types/go-types.ts'
import { kindType } from '../types/go-types.ts'
import { applyScale } from './apply-scale.ts'
import { insertObject } from './create.ts'
import {
  checkName,
  checkNamespace,
  decodeBody,
  decodePatched,
  decodePatchedSubresource,
  decodeSubresource,
  decodeStrategic,
  refusePatch,
  reportYamlDuplicates,
} from './decode.ts'
import type { Environment } from './environment.ts'
import { metadataOf, metadataText, withMetadata } from './metadata.ts'
import type { RequestContext } from '../apimachinery/request-context.ts'
import {
  badRequest,
  bareError,
  conflict,
  invalidObject,
  notFound,
  unprocessable,
  unsupportedMediaType,
} from '../apimachinery/status-error.ts'
import { changeObject } from './update.ts'
import { writerOf } from './writer.ts'

export interface Patch {
  readonly type: 'json' | 'merge' | 'strategic' | 'apply'
  readonly body: JsonValue
  /** Paths of duplicate keys in the body. */
  readonly duplicates: readonly string[]
  /** For apply patches: takes ownership of fields from other managers. */
  readonly force?: boolean
}

const patchOptions = { group: 'meta.k8s.io', kind: 'PatchOptions' }

export async function patchObject(
  environment: Environment,
  info: ResourceInfo,
  key: ObjectKey,
  patch: Patch,
  context: RequestContext,
  subresource: string,
): Promise<{ object: JsonObject; created: boolean }> {
  if (patch.type === 'apply') return applyObject(environment, info, key, patch, warningOnce(context), subresource)
  if (patch.force !== undefined)
    throw invalidObject(patchOptions, '', [forbiddenField('force', 'may not be specified for non-apply patch')])
  if (patch.type === 'strategic' && info.custom) {
    throw unsupportedMediaType(
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    )
  }
  const foreign = info.subresources[subresource]?.write !== undefined
  const decoding = warningOnce(context)
  const object = await changeObject(environment, info, {
    key,
    subresource,
    context,
    change: (old) => {
      const type = typeOf(info, subresource)
      if (patch.type === 'strategic' && type !== undefined) {
        const patched = attemptPatch(() => strategicMergePatch(old, patch.body, type))
        const decoded = decodeStrategic(info, type, patched, patch, decoding)
        return foreign ? decoded : named(info, decoded, key)
      }
      const patched = applyPatch(old, patch)
      if (foreign) return decodePatchedSubresource(info, subresource, patched)
      return named(info, decodePatched(info, patched, { duplicates: patch.duplicates, strictErrors: unknownMembers(patch) }, decoding), key)
    },
  })
  return { object, created: false }
}

/** Returns the object; throws unless it has the name and namespace of the URL. */
function named(info: ResourceInfo, object: JsonObject, key: ObjectKey): JsonObject {
  checkName(object, key.name)
  checkNamespace(info, object, key.namespace)
  return object
}

/** Returns the Go type of the patched object; undefined for custom resources. */
function typeOf(info: ResourceInfo, subresource: string): StructType | undefined {
  const { kind, group = info.group, version = info.version } = info.subresources[subresource] ?? info
  return kindType({ group, version, kind })
}

/** Wraps the context so that each warning is sent once, even if the patch is retried. */
function warningOnce(context: RequestContext): RequestContext {
  const sent = new Set<string>()
  return {
    ...context,
    warn: (text) => {
      if (sent.has(text)) return
      sent.add(text)
      context.warn(text)
    },
  }
}

function applyPatch(old: JsonObject, patch: Patch): JsonObject {
  const patched = attemptPatch(() => (patch.type === 'json' ? jsonPatch(old, patch.body) : mergePatch(old, patch.body)))
  if (!isObject(patched)) throw refusePatch(stringifyJson(patch.body)!, 'the result of the patch must be an object')
  return patched
}

/** Applies a patch, and throws the API server's errors for invalid patches. */
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

/** Returns an error text for each unknown member of a JSON patch operation. */
function unknownMembers({ type, body }: Patch): readonly string[] {
  if (type !== 'json' || !Array.isArray(body)) return []
  return body.flatMap((operation, index) =>
    Object.keys(isObject(operation) ? operation : {})
      .filter((member) => !operationMembers.includes(member))
      .map((member) => `json patch unknown field "[${index}].${member}"`),
  )
}

async function applyObject(
  environment: Environment,
  info: ResourceInfo,
  key: ObjectKey,
  patch: Patch,
  context: RequestContext,
  subresource: string,
): Promise<{ object: JsonObject; created: boolean }> {
  const scales = info.subresources[subresource]?.replicasPath !== undefined
  const type = scales ? { ...info, ...scaleType, custom: false } : info
  if (context.fieldManager === '') throw invalidObject(patchOptions, '', [required('fieldManager', 'is required for apply patch')])
  const isMissing = environment.store.get(info.storageKey, key) === undefined
  if (isMissing && subresource !== '') throw notFound(info, key.name)
  const config = readConfiguration(type, key, patch.body)
  const named = patch.body as JsonObject
  if (!scales) checkFields(info, config, named)
  const writer = writerOf(type, context, 'Apply', subresource, environment.clock.now())
  const force = patch.force === true

  if (isMissing) {
    const uid = metadataText(config, 'uid')
    if (uid !== '')
      throw conflict(info, key.name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`)
    const merged = applyConfiguration({ info, live: undefined, config, named, force, writer })
    const { managedFields } = metadataOf(merged)
    checkName({ metadata: isObject(named.metadata) ? named.metadata : {} }, key.name)
    reportYamlDuplicates(patch.duplicates, context)
    const decoded = decodeBody(info, { object: merged, duplicates: [] }, context)
    const object = await insertObject(environment, info, key.namespace, decoded, context, {
      track: (prepared) => withMetadata(prepared, { managedFields }),
    })
    return { object, created: true }
  }
  const object = await changeObject(environment, info, {
    key,
    subresource,
    context,
    tracked: true,
    change: async (old) => {
      if (scales) {
        const applied = applyScale(info, key, old, { config, named, force, writer })
        reportYamlDuplicates(patch.duplicates, context)
        return decodeSubresource(info, subresource, { object: applied, duplicates: [] }, context)
      }
      const apply = (view?: VersionView): JsonObject => applyConfiguration({ info, live: old, config, named, force, writer, view })
      const merged = info.converter === undefined ? apply() : await acrossVersions(info.converter, apply)
      reportYamlDuplicates(patch.duplicates, context)
      return decodeBody(info, { object: merged, duplicates: [] }, context)
    },
  })
  return { object, created: false }
}

/** Checks that an apply patch has the type, name and namespace of the URL, and returns the configuration. */
function readConfiguration(
  info: Pick<ResourceInfo, 'group' | 'version' | 'kind' | 'custom' | 'namespaced'>,
  key: ObjectKey,
  body: JsonValue,
): JsonObject {
  if (!isObject(body)) throw badRequest('error decoding YAML: an apply patch must be an object')
  const expected = apiVersionOf(info)
  const apiVersion = typeof body.apiVersion === 'string' ? body.apiVersion : ''
  if (!info.custom && (apiVersion !== expected || body.kind !== info.kind)) {
    const { group, version } = parseApiVersion(apiVersion)
    throw badRequest(`invalid object type: ${group}/${version}, Kind=${String(body.kind ?? '')}`)
  }
  if (apiVersion !== expected)
    throw badRequest(`Incorrect version specified in apply patch. Specified patch version: ${apiVersion}, expected: ${expected}`)
  if (body.kind !== info.kind)
    throw badRequest(`Incorrect kind specified in apply patch. Specified patch kind: ${String(body.kind ?? '')}, expected: ${info.kind}`)
  if (metadataOf(body).managedFields !== undefined && metadataOf(body).managedFields !== null)
    throw badRequest('metadata.managedFields must be nil')
  const name = metadataText(body, 'name')
  if (name !== '' && name !== key.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${key.name})`)
  const namespace = metadataText(body, 'namespace')
  if (info.namespaced && namespace !== '' && namespace !== key.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  return withMetadata(body, { name: key.name, managedFields: undefined, ...(info.namespaced ? { namespace: key.namespace } : {}) })
}
