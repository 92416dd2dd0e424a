/** The AdmissionReview of `admission.k8s.io/v1`: what comes in is checked once, what goes out is written once. */
import { messageOf } from '../api/errors.ts'
import type { GroupVersionKind } from '../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { isObject, shownInBrief, stringifyJson } from '../api/json.ts'
import { parseJsonBytes } from '../api/json-reader.ts'
import type { Status } from '../api/status.ts'
import type { GroupVersionResource, Operation, UserInfo } from './context.ts'
import type { PatchOperation } from './patch.ts'

/** What is asked, without the objects that it is about. */
export interface AdmissionRequest {
  readonly uid: string
  /** Of the object: that of a subresource may be another one than the resource's. */
  readonly kind: GroupVersionKind
  readonly resource: GroupVersionResource
  readonly operation: Operation
  /** Empty while the API server has still to generate it. Where the review names none, it is that of the object, or of the one before. */
  readonly name: string
  readonly namespace: string
  readonly subResource: string
  readonly userInfo: UserInfo
  readonly dryRun: boolean
  /** Absent on CONNECT. */
  readonly options: JsonObject | undefined
}

/** An AdmissionReview as it was sent. */
export interface DecodedReview {
  readonly request: AdmissionRequest
  /** Absent on DELETE. */
  readonly object: JsonObject | undefined
  /** There on UPDATE and DELETE. */
  readonly oldObject: JsonObject | undefined
}

/** How long a warning may be: the API server gives its users 4 Ki characters of them in all (k8s.io/apiserver `pkg/endpoints/filters`: `WithWarningRecorder`). */
export const maxWarningLength = 4096

export interface AdmissionResponse {
  readonly allowed: boolean
  /** Why not. */
  readonly status?: Status
  readonly warnings?: readonly string[]
  /** Values by keys; the API server puts the name of the webhook before these. */
  readonly auditAnnotations?: Readonly<Record<string, string>>
}

/** An answer as JSON, and what logs and metrics tell of its patch. */
export interface WrittenAnswer {
  readonly text: string | Buffer
  /** How many operations, and how many bytes before base64; undefined for an answer that may not have a patch. */
  readonly patch: { readonly operations: number; readonly bytes: number } | undefined
}

/** What was sent is no AdmissionReview; the message says to its sender what is wrong with it. */
export class MalformedReview extends Error {
  override readonly name = 'MalformedReview'
}

const operations: ReadonlySet<unknown> = new Set<Operation>(['CREATE', 'UPDATE', 'DELETE', 'CONNECT'])

/**
 * Reads the body of a request.
 *
 * @throws {MalformedReview}
 */
export function readReview(body: Buffer | undefined): DecodedReview {
  if (body === undefined || body.length === 0) return decodeReview(undefined)
  let value: JsonValue
  try {
    // As of JSON.parse: `__proto__` is a key like any other here, and nothing that reads the result assigns through it.
    value = parseJsonBytes(body)
  } catch (error) {
    throw new MalformedReview(`The body is no JSON: ${messageOf(error)}`)
  }
  return decodeReview(value)
}

/** @throws {MalformedReview} */
function decodeReview(body: unknown): DecodedReview {
  const sent = requestOf(body)
  const request = decodeRequest(sent)
  const { operation, name } = request
  const object = objectOf(sent, 'object', operation === 'CREATE' || operation === 'UPDATE')
  const oldObject = objectOf(sent, 'oldObject', operation === 'UPDATE')
  return { request: name === '' ? { ...request, name: nameOf(object) || nameOf(oldObject) } : request, object, oldObject }
}

/** Where the API server has written everything but the objects, `dryRun` and `options`. */
const peekedBytes = 64 * 1024

/** What stands before the objects of a review that is not read, or not yet; undefined when it cannot be told. */
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
  if (!isObject(body) || body.kind !== 'AdmissionReview') throw new MalformedReview('The body is no AdmissionReview.')
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

/** Writes the answer as JSON text. The patch, where there may be one, goes in base64, as the API wants it. */
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
