/** The AdmissionReview of `admission.k8s.io/v1`: what comes in is checked once, what goes out is written once. */
import type { FieldError } from '../api/field-error.ts'
import type { GroupVersionKind } from '../api/group-version-kind.ts'
import type { JsonObject } from '../api/json.ts'
import { isObject, shownInBrief, stringifyJson } from '../api/json.ts'
import type { Status } from '../api/status.ts'
import type { GroupVersionResource, Operation, UserInfo } from './context.ts'
import type { PatchOperation } from './patch.ts'

export interface AdmissionRequest {
  readonly uid: string
  /** Of the object: that of a subresource may be another one than the resource's. */
  readonly kind: GroupVersionKind
  readonly resource: GroupVersionResource
  readonly operation: Operation
  /** Empty while the API server has still to generate it. The review of a collection's deletion names none; then it is that of the old object. */
  readonly name: string
  readonly namespace: string
  readonly subResource: string
  readonly userInfo: UserInfo
  readonly dryRun: boolean
  /** Absent on DELETE. */
  readonly object: JsonObject | undefined
  /** There on UPDATE and DELETE. */
  readonly oldObject: JsonObject | undefined
  /** Absent on CONNECT. */
  readonly options: JsonObject | undefined
  /** Where another thread has judged the object by its schema alone; `object` has its defaults then. */
  readonly judged?: Judged
}

/** What another thread found, and would answer. */
export interface Judged {
  /** What the schema has against the object with its defaults. */
  readonly errors: readonly FieldError[]
  /** What it has against the object with these changes. */
  readonly validate: (changes: readonly PatchOperation[]) => Promise<readonly FieldError[]>
  readonly written: WrittenAnswer
  /** What brings the schema's defaults; undefined where the object has them all. */
  readonly patch: WrittenPatch | undefined
  readonly warnings: readonly string[]
}

/** A patch of at least one operation as JSON. */
export interface WrittenPatch {
  readonly operations: number
  readonly bytes: Buffer
}

/** An answer as JSON, and what logs and metrics tell of it. */
export interface WrittenAnswer {
  readonly bytes: Buffer
  /** How long its patch is, before base64; undefined for one that may not have any. */
  readonly patch: { readonly operations: number; readonly bytes: number } | undefined
  /** How many there are. */
  readonly warnings: number
  /** How many the refusal names. */
  readonly causes: number
}

export interface AdmissionResponse {
  readonly allowed: boolean
  /** Why not. */
  readonly status?: Status
  readonly patch?: readonly PatchOperation[]
  /** Operations that come before those of `patch`. */
  readonly patchBefore?: WrittenPatch | undefined
  readonly warnings?: readonly string[]
  /** Values by keys; the API server puts the name of the webhook before these. */
  readonly auditAnnotations?: Readonly<Record<string, string>>
  /** The whole answer, where another thread has written it already. */
  readonly written?: WrittenAnswer
}

/** What was sent is no AdmissionReview; the message says to its sender what is wrong with it. */
export class MalformedReview extends Error {
  override readonly name = 'MalformedReview'
}

const operations: ReadonlySet<unknown> = new Set<Operation>(['CREATE', 'UPDATE', 'DELETE', 'CONNECT'])

/** @throws {MalformedReview} */
export function decodeReview(body: unknown): AdmissionRequest {
  if (body === undefined) throw new MalformedReview('The request has no body: an AdmissionReview is expected.')
  if (!isObject(body) || body.kind !== 'AdmissionReview') throw new MalformedReview('The body is no AdmissionReview.')
  if (body.apiVersion !== 'admission.k8s.io/v1') {
    throw new MalformedReview(
      `The apiVersion of the AdmissionReview is ${shownInBrief(body.apiVersion)}: only admission.k8s.io/v1 is served.`,
    )
  }
  const { request } = body
  if (!isObject(request)) throw new MalformedReview('The AdmissionReview has no request.')
  const { uid, kind, resource, operation, userInfo, options } = request
  if (typeof uid !== 'string' || uid === '') throw new MalformedReview('The request of the AdmissionReview has no uid.')
  if (!operations.has(operation))
    throw new MalformedReview(
      `The operation of the AdmissionReview is ${shownInBrief(operation)}: CREATE, UPDATE, DELETE or CONNECT is expected.`,
    )
  if (!isObject(kind) || typeof kind.version !== 'string' || typeof kind.kind !== 'string') {
    throw new MalformedReview('The request of the AdmissionReview has no kind.')
  }
  const object = objectOf(request, 'object', operation === 'CREATE' || operation === 'UPDATE')
  const oldObject = objectOf(request, 'oldObject', operation === 'UPDATE')
  return {
    uid,
    kind: { group: textOf(kind.group), version: kind.version, kind: kind.kind },
    resource: isObject(resource)
      ? { group: textOf(resource.group), version: textOf(resource.version), resource: textOf(resource.resource) }
      : noResource,
    operation: operation as Operation,
    name: textOf(request.name) || nameOf(oldObject),
    namespace: textOf(request.namespace),
    subResource: textOf(request.subResource),
    userInfo: isObject(userInfo) && typeof userInfo.username === 'string' ? (userInfo as unknown as UserInfo) : { username: '' },
    dryRun: request.dryRun === true,
    object,
    oldObject,
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

/** Who counts patches. */
export interface PatchObserver {
  /** An answer has a patch of so many operations and bytes of JSON; also when nothing was to change. */
  patched(operations: number, bytes: number): void
}

/** The answer as JSON text. The patch goes in base64, as the API wants it. */
export function encodeReview(
  uid: string,
  { allowed, status, patch, patchBefore, warnings, auditAnnotations }: AdmissionResponse,
  observer?: PatchObserver,
): string {
  let text = `${envelope}${JSON.stringify(uid)},"allowed":${allowed}`
  if (status !== undefined) text += `,"status":${JSON.stringify(status)}`
  if (patch !== undefined && (patch.length > 0 || patchBefore !== undefined)) {
    const bytes = patchBytes(patch, patchBefore)
    observer?.patched(patch.length + (patchBefore?.operations ?? 0), bytes.length)
    text += `,"patchType":"JSONPatch","patch":"${bytes.toString('base64')}"`
  } else if (patch !== undefined) observer?.patched(0, 0)
  if (warnings !== undefined && warnings.length > 0) text += `,"warnings":${JSON.stringify(warnings)}`
  if (auditAnnotations !== undefined) text += `,"auditAnnotations":${JSON.stringify(auditAnnotations)}`
  return `${text}}}`
}

function patchBytes(patch: readonly PatchOperation[], before: WrittenPatch | undefined): Buffer {
  if (before === undefined) return Buffer.from(stringifyJson(patch)!)
  if (patch.length === 0) return before.bytes
  return Buffer.concat([before.bytes.subarray(0, -1), Buffer.from(`,${stringifyJson(patch)!.slice(1)}`)])
}

/** The answer to be sent: as another thread has written it, else as `encodeReview` writes it. */
export function answerOf(uid: string, response: AdmissionResponse, observer: PatchObserver): string | Buffer {
  const { written } = response
  if (written === undefined) return encodeReview(uid, response, observer)
  if (written.patch !== undefined) observer.patched(written.patch.operations, written.patch.bytes)
  return written.bytes
}
