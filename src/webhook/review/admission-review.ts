/** Decodes and encodes AdmissionReviews of `admission.k8s.io/v1`. */
import { messageOf } from '../../api/errors.ts'
import type { GroupVersionKind } from '../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject, shownInBrief, stringifyJson } from '../../api/json.ts'
import { parseJsonBytes } from '../../api/json-reader.ts'
import type { Status } from '../../api/status.ts'
import type { GroupVersionResource, Operation, UserInfo } from '../definition/context.ts'
import type { PatchOperation } from './patch.ts'

/** The `request` of an AdmissionReview, without its objects. */
export interface AdmissionRequest {
  readonly uid: string
  /**
   * The kind of the object. For a subresource, this kind can differ from the kind of the resource: the object of `deployments/scale` has
   * the kind `Scale`.
   */
  readonly kind: GroupVersionKind
  readonly resource: GroupVersionResource
  readonly operation: Operation
  /**
   * The name of the object. If the request contains no name, this is the name in the metadata of the object or of the old object. Empty if
   * the API server has not yet generated the name.
   */
  readonly name: string
  readonly namespace: string
  readonly subResource: string
  readonly userInfo: UserInfo
  readonly dryRun: boolean
  /** The options of the operation; undefined for CONNECT. */
  readonly options: JsonObject | undefined
}

/** A decoded AdmissionReview. */
export interface DecodedReview {
  readonly request: AdmissionRequest
  /** The object of the request; undefined for DELETE. For CONNECT, the object consists of the options, e.g. PodExecOptions. */
  readonly object: JsonObject | undefined
  /** The stored object. The API server sends it for UPDATE and DELETE. An UPDATE without it is malformed. */
  readonly oldObject: JsonObject | undefined
}

/**
 * Maximum length of a warning. The API server returns at most 4 Ki characters of warnings in total (k8s.io/apiserver
 * `pkg/endpoints/filters`: `WithWarningRecorder`).
 */
export const maxWarningLength = 4096

export interface AdmissionResponse {
  readonly allowed: boolean
  /** The Status that explains why the request is denied; undefined if the request is allowed. */
  readonly status?: Status
  readonly warnings?: readonly string[]
  /** The audit annotations. The API server prefixes their keys with the name of the webhook. */
  readonly auditAnnotations?: Readonly<Record<string, string>>
}

/** The serialized response, and the size of its patch. The size appears in logs and metrics. */
export interface WrittenAnswer {
  readonly text: string | Buffer
  /**
   * The number of operations in the patch, and its size in bytes before it is encoded in base64. Undefined for a response that cannot have
   * a patch.
   */
  readonly patch: { readonly operations: number; readonly bytes: number } | undefined
}

/** Thrown when a body is not an AdmissionReview, or when a review is sent to the wrong path. The message is sent to the client. */
export class MalformedReview extends Error {
  override readonly name = 'MalformedReview'
}

const operations: ReadonlySet<unknown> = new Set<Operation>(['CREATE', 'UPDATE', 'DELETE', 'CONNECT'])

/**
 * Decodes the body of a request.
 *
 * @throws {MalformedReview} when the body is not an AdmissionReview of `admission.k8s.io/v1`.
 */
export function readReview(body: Buffer | undefined): DecodedReview {
  if (body === undefined || body.length === 0) return decodeReview(undefined)
  let value: JsonValue
  try {
    // `__proto__` is an ordinary key of the parsed object, as with `JSON.parse`. An assignment to this key would change the prototype of
    // the object, but no code assigns to keys of the parsed object.
    value = parseJsonBytes(body)
  } catch (error) {
    throw new MalformedReview(`The body is not JSON: ${messageOf(error)}`)
  }
  return decodeReview(value)
}

/**
 * Decodes a parsed body.
 *
 * @throws {MalformedReview} when the body is not a valid AdmissionReview of `admission.k8s.io/v1`.
 */
function decodeReview(body: unknown): DecodedReview {
  const sent = requestOf(body)
  const request = decodeRequest(sent)
  const { operation, name } = request
  const object = objectOf(sent, 'object', operation === 'CREATE' || operation === 'UPDATE')
  const oldObject = objectOf(sent, 'oldObject', operation === 'UPDATE')
  return { request: name === '' ? { ...request, name: nameOf(object) || nameOf(oldObject) } : request, object, oldObject }
}

/**
 * `peekRequest` reads this number of bytes at the beginning of a review. The API server writes most fields of the request before the
 * objects. Only `dryRun` and `options` follow the objects.
 */
const peekedBytes = 64 * 1024

/**
 * Decodes only the beginning of a review, up to its objects. Returns undefined when the beginning is invalid, or when the objects do not
 * begin within `peekedBytes`.
 */
export function peekRequest(body: Buffer): AdmissionRequest | undefined {
  const text = body.toString('utf8', 0, peekedBytes)
  const end = text.indexOf(',"object":')
  if (end < 0) return undefined
  try {
    return decodeRequest(requestOf(JSON.parse(`${text.slice(0, end)}}}`)))
  } catch {
    return undefined
  }
}

function requestOf(body: unknown): JsonObject {
  if (body === undefined) throw new MalformedReview('The request has no body: an AdmissionReview is expected.')
  if (!isObject(body) || body.kind !== 'AdmissionReview') throw new MalformedReview('The body is not an AdmissionReview.')
  if (body.apiVersion !== 'admission.k8s.io/v1') {
    throw new MalformedReview(
      `The apiVersion of the AdmissionReview is ${shownInBrief(body.apiVersion)}: only admission.k8s.io/v1 is served.`,
    )
  }
  if (!isObject(body.request)) throw new MalformedReview('The AdmissionReview has no request.')
  return body.request
}

function decodeRequest(sent: JsonObject): AdmissionRequest {
  const { uid, kind, resource, operation, userInfo, options } = sent
  if (typeof uid !== 'string' || uid === '') throw new MalformedReview('The request of the AdmissionReview has no uid.')
  if (!operations.has(operation))
    throw new MalformedReview(
      `The operation of the AdmissionReview is ${shownInBrief(operation)}: CREATE, UPDATE, DELETE or CONNECT is expected.`,
    )
  if (!isObject(kind) || typeof kind.version !== 'string' || typeof kind.kind !== 'string') {
    throw new MalformedReview('The request of the AdmissionReview has no kind.')
  }
  return {
    uid,
    kind: { group: textOf(kind.group), version: kind.version, kind: kind.kind },
    resource: isObject(resource)
      ? { group: textOf(resource.group), version: textOf(resource.version), resource: textOf(resource.resource) }
      : noResource,
    operation: operation as Operation,
    name: textOf(sent.name),
    namespace: textOf(sent.namespace),
    subResource: textOf(sent.subResource),
    userInfo: isObject(userInfo) && typeof userInfo.username === 'string' ? (userInfo as unknown as UserInfo) : { username: '' },
    dryRun: sent.dryRun === true,
    options: isObject(options) ? options : undefined,
  }
}

const noResource: GroupVersionResource = Object.freeze({ group: '', version: '', resource: '' })

function nameOf(object: JsonObject | undefined): string {
  return isObject(object?.metadata) ? textOf(object.metadata.name) : ''
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function objectOf(request: JsonObject, field: 'object' | 'oldObject', needed: boolean): JsonObject | undefined {
  const value = request[field]
  if (isObject(value)) return value
  if (needed || (value !== undefined && value !== null)) throw new MalformedReview(`The request of the AdmissionReview has no ${field}.`)
  return undefined
}

const envelope = '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":'

/** Serializes the response. The API requires the patch to be encoded in base64. */
export function encodeReview(
  uid: string,
  { allowed, status, warnings, auditAnnotations }: AdmissionResponse,
  patch?: readonly PatchOperation[],
): WrittenAnswer {
  let text = `${envelope}${JSON.stringify(uid)},"allowed":${allowed}`
  let bytes = 0
  if (status !== undefined) text += `,"status":${JSON.stringify(status)}`
  if (patch !== undefined && patch.length > 0) {
    const json = Buffer.from(stringifyJson(patch))
    bytes = json.length
    text += `,"patchType":"JSONPatch","patch":"${json.toString('base64')}"`
  }
  if (warnings !== undefined && warnings.length > 0) text += `,"warnings":${JSON.stringify(warnings)}`
  if (auditAnnotations !== undefined) text += `,"auditAnnotations":${JSON.stringify(auditAnnotations)}`
  return { text: `${text}}}`, patch: patch && { operations: patch.length, bytes } }
}
