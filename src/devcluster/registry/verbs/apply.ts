/** Server-side apply: a PATCH request with the content type `application/apply-patch+yaml`. */
import { required } from '../../../api/field-error.ts'
import { apiVersionOf, parseApiVersion } from '../../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import type { ObjectKey } from '../../../api/object.ts'
import type { RequestContext } from '../../apimachinery/request-context.ts'
import { badRequest, conflict, invalidObject, notFound } from '../../apimachinery/status-error.ts'
import { checkFields } from '../../apply/check-fields.ts'
import { scaleType } from '../../apply/scale-managers.ts'
import { applyConfiguration } from '../../apply/server-side-apply.ts'
import type { VersionView } from '../../conversion-webhooks/across-versions.ts'
import { acrossVersions } from '../../conversion-webhooks/across-versions.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { applyScale } from './apply-scale.ts'
import { checkName, decodeBody, decodeSubresource, reportYamlDuplicates } from '../decode.ts'
import type { Environment } from '../environment.ts'
import { writerOf } from '../field-managers.ts'
import { metadataOf, metadataText, withMetadata } from '../metadata.ts'
import type { Patch } from './patch.ts'
import { patchOptions } from './patch.ts'
import type { Write } from '../write/description.ts'

/** Returns the `Write` of a server-side apply request. Throws a `StatusError` for a configuration that does not match the URL. */
export function applyOf(
  { store, clock }: Environment,
  info: ResourceInfo,
  key: ObjectKey,
  patch: Patch,
  context: RequestContext,
  subresource: string,
): Write {
  const scales = info.subresources[subresource]?.replicasPath !== undefined
  const type = scales ? { ...info, ...scaleType, custom: false } : info
  if (context.fieldManager === '') throw invalidObject(patchOptions, '', [required('fieldManager', 'is required for apply patch')])
  if (subresource !== '' && store.get(info.storageKey, key) === undefined) throw notFound(info, key.name)
  const config = readConfiguration(type, key, patch.body)
  const named = patch.body as JsonObject
  if (!scales) checkFields(info, config, named)
  const writer = writerOf(type, context, 'Apply', subresource, clock.now())
  const force = patch.force === true

  const create = (): JsonObject => {
    const uid = metadataText(config, 'uid')
    if (uid !== '')
      throw conflict(info, key.name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`)
    const merged = applyConfiguration({ info, live: undefined, config, named, force, writer })
    checkName({ metadata: isObject(named.metadata) ? named.metadata : {} }, key.name)
    reportYamlDuplicates(patch.duplicates, context)
    const decoded = decodeBody(info, { object: merged, duplicates: [] }, context)
    return withMetadata(decoded, { managedFields: metadataOf(merged).managedFields })
  }
  return {
    key,
    subresource,
    context,
    creates: subresource === '' && 'if missing',
    hasManagers: true,
    async requested(old) {
      if (old === undefined) return create()
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
  }
}

/**
 * Checks that the body of a server-side apply request has the type, name and namespace of the URL. Returns the body as the applied
 * configuration.
 */
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
