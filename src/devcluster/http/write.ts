/** Handles POST, PUT, PATCH and DELETE of objects, subresources and collections. */
import type { GroupVersionKind } from '../../api/group-version-kind.ts'
import { apiVersionOf } from '../../api/group-version-kind.ts'
import { getOwn, isObject, stringifyJson } from '../../api/json.ts'
import { failure } from '../../api/status.ts'
import { refuseScale } from '../registry/decode.ts'
import type { DecodedObject } from '../apimachinery/request-context.ts'
import { StatusError, badRequest, unsupportedMediaType } from '../apimachinery/status-error.ts'
import type { DecodedBody } from './codec.ts'
import { decodeJson, decodeObject, decodeYaml, mediaTypeOf, readBody, unknownMediaType, unrecognized } from './codec.ts'
import type { Exchange } from './exchange.ts'
import { goKindOf, notAnObject } from '../types/go-json.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { presentList, presentObject } from './present.ts'
import { keyOf, presentationOf, readOptions, send } from './read.ts'
import { flag } from './request-info.ts'
import type { ResourceRequest, Services } from './services.ts'
import { deleteOptions, writeContext } from './write-options.ts'

type PatchType = 'json' | 'merge' | 'strategic' | 'apply'

const patchTypes: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
}

/** Maximum number of operations in a JSON patch (k8s.io/apiserver/pkg/endpoints/handlers: maxJSONPatchOperations). */
const maxJsonPatchOperations = 10_000

export async function createObject(exchange: Exchange, request: ResourceRequest, services: Services): Promise<void> {
  const { info, target, user } = request
  const presentation = presentationOf(exchange, request, services)
  const context = writeContext(exchange, user, 'CreateOptions')
  const decoded = await decodedObject(exchange, request)
  const namespace = info.namespaced ? target.namespace : undefined
  const name = target.subresource === '' ? undefined : target.name
  const object = await services.registry.create(info, namespace, decoded, context, name, target.subresource)
  return sendAtEndOfTurn(exchange, 201, presentObject(object, presentation), presentation, services)
}

export async function updateObject(exchange: Exchange, request: ResourceRequest, services: Services): Promise<void> {
  const presentation = presentationOf(exchange, request, services)
  const context = writeContext(exchange, request.user, 'UpdateOptions')
  const decoded = await decodedObject(exchange, request)
  const { object, created } = await services.registry.put(request.info, keyOf(request), decoded, context, request.target.subresource)
  return sendAtEndOfTurn(exchange, created ? 201 : 200, presentObject(object, presentation), presentation, services)
}

export async function patchObject(exchange: Exchange, request: ResourceRequest, services: Services): Promise<void> {
  const { info, user } = request
  const presentation = presentationOf(exchange, request, services)
  const type = patchTypeOf(exchange, request)
  const context = writeContext(exchange, user, 'PatchOptions', type === 'apply')
  const { value, duplicates } = decodePatch(await readBody(exchange.request), type, request)
  const patch = { type, body: value, duplicates, ...(type === 'apply' ? { force: flag(exchange.query, 'force') } : {}) }
  const { object, created } = await services.registry.patch(info, keyOf(request), patch, context, request.target.subresource)
  return sendAtEndOfTurn(exchange, created ? 201 : 200, presentObject(object, presentation), presentation, services)
}

export async function deleteObject(exchange: Exchange, request: ResourceRequest, services: Services): Promise<void> {
  const presentation = presentationOf(exchange, request, services)
  const { options, context } = deleteOptions(exchange, request.user, await readBody(exchange.request))
  const { object } = await services.registry.delete(request.info, keyOf(request), options, context)
  return sendAtEndOfTurn(exchange, 200, presentObject(object, presentation), presentation, services)
}

export async function deleteObjects(exchange: Exchange, request: ResourceRequest, services: Services): Promise<void> {
  const presentation = presentationOf(exchange, request, services)
  const { options, context } = deleteOptions(exchange, request.user, await readBody(exchange.request))
  const list = await services.registry.deleteCollection(request.info, await readOptions(exchange, request, services), options, context)
  return sendAtEndOfTurn(exchange, 200, presentList(list, presentation), presentation, services)
}

const sendAtEndOfTurn: typeof send = async (exchange, ...response) => {
  await exchange.endOfTurn
  return send(exchange, ...response)
}

async function decodedObject(exchange: Exchange, request: ResourceRequest): Promise<DecodedObject> {
  const { info, target } = request
  const { kind, group = info.group, version = info.version } = info.subresources[target.subresource] ?? info
  const body = await readBody(exchange.request)
  try {
    return decodedBody(body, exchange.request.headers['content-type'], info, { kind, group, version })
  } catch (error) {
    const isScale = info.custom && kind !== info.kind
    throw isScale && error instanceof StatusError && error.status.code === 400 ? refuseScale({ group, version, kind }) : error
  }
}

function decodedBody(body: Buffer, contentType: string | undefined, info: ResourceInfo, type: GroupVersionKind): DecodedObject {
  const { group, version, kind } = type
  const expected = { kind, apiVersion: apiVersionOf({ group, version }), custom: info.custom && kind === info.kind, exact: isExact(info) }
  const { value, duplicates, outOfRange } = decodeObject(body, contentType, expected)
  // A body `null` counts as an empty object.
  const object = value ?? {}
  if (!isObject(object)) throw unrecognized(kind, `couldn't get version/kind; json parse error: ${notAnObject(object)}`, body)
  for (const [field, given] of Object.entries(object)) {
    if ((field !== 'apiVersion' && field !== 'kind') || given === undefined || given === null || typeof given === 'string') continue
    const text = `json: cannot unmarshal ${goKindOf(given)} into Go struct field .${field} of type string`
    throw unrecognized(kind, `couldn't get version/kind; json parse error: ${text}`, body)
  }
  const apiVersion = getOwn(object, 'apiVersion')
  if (typeof apiVersion === 'string' && apiVersion.split('/').length > 2)
    throw unrecognized(kind, `unexpected GroupVersion string: ${apiVersion}`, body)
  if (expected.custom && (getOwn(object, 'kind') ?? '') === '')
    throw unrecognized(kind, `Object 'Kind' is missing in '${stringifyJson(value)}'`, body)
  if (expected.custom && outOfRange !== undefined)
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${notAFloat(outOfRange)}`)
  return { object, duplicates }
}

/**
 * Returns true for types whose integers beyond 2^53 keep all digits. These are custom resources and CRDs. The schemas in CRDs can have such
 * integers in defaults and enums.
 */
function isExact({ custom, group }: ResourceInfo): boolean {
  return custom || group === 'apiextensions.k8s.io'
}

/** Returns the message for a number beyond the range of a float (sigs.k8s.io/json: decodeState.convertNumber). */
function notAFloat(number: string, target = 'value'): string {
  return `json: cannot unmarshal number ${number} into Go ${target} of type float64`
}

function patchTypeOf(exchange: Exchange, { info }: ResourceRequest): PatchType {
  const mediaType = mediaTypeOf(exchange.request.headers['content-type'])
  const type = Object.hasOwn(patchTypes, mediaType) ? patchTypes[mediaType] : undefined
  if (type !== undefined && !(type === 'strategic' && info.custom)) return type
  // For built-in types, kube-apiserver's router (go-restful) rejects the media type before the handler runs.
  if (!info.custom) throw unsupportedMediaType('415: Unsupported Media Type', {})
  throw unknownMediaType(Object.keys(patchTypes).filter((name) => patchTypes[name] !== 'strategic'))
}

function decodePatch(body: Buffer, type: PatchType, { info }: ResourceRequest): DecodedBody {
  if (type === 'apply') {
    const decoded = decodeYaml(body, (text) => badRequest(`error decoding YAML: ${text}`), isExact(info))
    if (decoded.value === null) return { ...decoded, value: {} }
    if (isObject(decoded.value)) return decoded
    throw badRequest(`an apply patch must be an object of the kind ${info.kind} in ${apiVersionOf(info)}`)
  }
  const prefix = type === 'strategic' ? '' : 'error decoding patch: '
  const decoded = decodeJson(body, (text) => badRequest(`${prefix}${text}`), isExact(info))
  if (decoded.outOfRange !== undefined && type !== 'strategic')
    throw badRequest(`${prefix}${notAFloat(decoded.outOfRange, type === 'json' ? 'struct field jsonPatchOp.value' : 'value')}`)
  const refuse = (goType: string): Error =>
    badRequest(`${prefix}json: cannot unmarshal ${goKindOf(decoded.value)} into Go value of type ${goType}`)
  if (type !== 'json') {
    if (type === 'merge' && decoded.value === null) throw badRequest('Invalid JSON Patch')
    if (!isObject(decoded.value)) throw refuse('map[string]interface {}')
    return decoded
  }
  if (decoded.value === null) return { ...decoded, value: [] }
  if (!Array.isArray(decoded.value)) throw refuse('[]handlers.jsonPatchOp')
  const operations = decoded.value.length
  if (operations > maxJsonPatchOperations) {
    throw new StatusError(
      failure(
        413,
        'RequestEntityTooLarge',
        `The allowed maximum operations in a JSON patch is ${maxJsonPatchOperations}, got ${operations}`,
      ),
    )
  }
  return decoded
}
