/** Builds the AdmissionReview for a webhook, and validates the webhook's response. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { quote } from '../../api/field-error.ts'
import { base64Problem } from '../../formats/go-base64.ts'
import { newUuid } from '../../runtime/random.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { AdmissionAttributes } from './admission.ts'
import type { Hook } from './hook.ts'
import { isNamespaceType } from './matcher.ts'
import { knownStatus, reviewProblem } from './response-shape.ts'
import { describeKind, reviewTypeProblem } from './check-response-type.ts'
import type { VersionedWrite } from './versioned-write.ts'

/**
 * The error of a failed call to a webhook. For an admission webhook, `failurePolicy` determines whether the API request fails too. If the
 * webhook denies the request, a `StatusError` is thrown, not a `CallError`.
 */
export class CallError extends Error {
  override readonly name = 'CallError'

  /** The message without the prefix `failed to call webhook: `. */
  get detail(): string {
    return this.message.replace(/^failed to call webhook: /, '')
  }
}

export interface ReviewRequest {
  readonly uid: string
  readonly apiVersion: string
  readonly body: JsonObject
}

export interface ReviewResponse {
  readonly allowed: boolean
  readonly status: JsonObject | undefined
  readonly warnings: readonly string[]
  /** The JSON of the patch, decoded from base64; undefined if the response contains no patch. */
  readonly patch: string | undefined
  readonly patchType: string
}

interface RequestObjects {
  readonly object: JsonObject | undefined
  readonly oldObject: JsonObject | undefined
}

const knownVersions = ['v1', 'v1beta1']

/**
 * Returns the AdmissionReview for a webhook. The version of the AdmissionReview is the first version in the webhook's
 * `admissionReviewVersions` that kube-apiserver supports.
 *
 * @throws {CallError} when kube-apiserver supports none of the versions.
 */
export function reviewRequest(hook: Hook, write: VersionedWrite, random: () => number): ReviewRequest {
  const version = hook.admissionReviewVersions.find((candidate) => knownVersions.includes(candidate))
  if (version === undefined) {
    throw new CallError('could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)')
  }
  const uid = newUuid(random)
  const apiVersion = `admission.k8s.io/${version}`
  const { object = null, oldObject = null, ...request } = requestOf(write)
  return { uid, apiVersion, body: { kind: 'AdmissionReview', apiVersion, request: { uid, ...request, object, oldObject } } }
}

/**
 * Returns the `request` field of an AdmissionReview, without the field `uid`. `object` is undefined if the request has no object, and
 * `oldObject` is undefined if the request has no old object.
 */
export function requestOf({ attributes, info, object, oldObject }: VersionedWrite): JsonObject & RequestObjects {
  const { subresource, operation, name, context } = attributes
  // For a Namespace, kube-apiserver sets `namespace` to the name of the Namespace.
  const namespace = isNamespaceType(info) ? name : attributes.namespace
  return {
    kind: kindOf(info, subresource),
    resource: resourceOf(info),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: kindOf(attributes.info, subresource),
    requestResource: resourceOf(attributes.info),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace ? { namespace } : {}),
    operation,
    userInfo: userInfoOf(attributes),
    object,
    oldObject,
    dryRun: context.dryRun,
    options: optionsOf(attributes),
  }
}

/**
 * Returns the `options` of an admission request. For a PATCH request, the options are CreateOptions if the request creates the object, and
 * UpdateOptions if the request updates the object.
 */
function optionsOf({ operation, context: { options } }: AdmissionAttributes): JsonObject | null {
  if (options === undefined) return null
  if (options.kind !== 'PatchOptions') return options
  const { force: _force, ...rest } = options
  return { ...rest, kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions' }
}

function kindOf(info: ResourceInfo, subresource: string): JsonObject {
  const sub = info.subresources[subresource]
  return { group: sub?.group ?? info.group, version: sub?.version ?? info.version, kind: sub?.kind ?? info.kind }
}

function resourceOf(info: ResourceInfo): JsonObject {
  return { group: info.group, version: info.version, resource: info.plural }
}

function userInfoOf({ context: { user } }: AdmissionAttributes): JsonObject {
  return {
    username: user.username,
    ...(user.uid === undefined ? {} : { uid: user.uid }),
    groups: [...user.groups],
    ...(user.extra === undefined ? {} : { extra: user.extra as unknown as JsonObject }),
  }
}

/**
 * Validates the response of a webhook (k8s.io/apiserver/pkg/admission/plugin/webhook/request: VerifyAdmissionResponse).
 *
 * @throws {CallError} when the response is invalid.
 */
export function readResponse(answer: JsonValue, request: ReviewRequest, mutating: boolean): ReviewResponse {
  const failed = (text: string): CallError => new CallError(`failed to call webhook: ${text}`)
  const invalid = (text: string): CallError => new CallError(`received invalid webhook response: ${text}`)
  if (!isObject(answer)) throw invalid('webhook response was absent')
  const otherType = reviewTypeProblem(answer, { kind: 'AdmissionReview', apiVersion: request.apiVersion, knownVersions })
  if (otherType !== undefined) throw failed(otherType)
  const problem = reviewProblem(answer)
  if (problem !== undefined) throw failed(problem)
  const { response } = answer
  if (!isObject(response)) throw invalid('webhook response was absent')
  const notBase64 = typeof response.patch === 'string' ? base64Problem(response.patch) : undefined
  if (notBase64 !== undefined) throw failed(notBase64)
  const isBeta = request.apiVersion.endsWith('/v1beta1')
  // In v1, the response must have the `uid` of the request, and the apiVersion and kind of the review. v1beta1 does not require this.
  if (!isBeta) {
    if (response.uid !== request.uid) {
      throw invalid(`expected response.uid=${quote(request.uid)}, got ${quote(typeof response.uid === 'string' ? response.uid : '')}`)
    }
    if (answer.apiVersion !== request.apiVersion || answer.kind !== 'AdmissionReview') {
      throw invalid(`expected webhook response of ${request.apiVersion}, Kind=AdmissionReview, got ${describeKind(answer)}`)
    }
  }
  const patch =
    typeof response.patch === 'string' && response.patch !== '' ? Buffer.from(response.patch, 'base64').toString('utf8') : undefined
  const patchType = typeof response.patchType === 'string' ? response.patchType : undefined
  if (mutating && !isBeta) {
    if (patch !== undefined && patchType === undefined) throw invalid('webhook returned response.patch but not response.patchType')
    if (patch === undefined && patchType !== undefined) throw invalid('webhook returned response.patchType but not response.patch')
    if (patchType === '') throw invalid('webhook returned invalid response.patchType of ""')
  } else if (!mutating && !isBeta) {
    if (patch !== undefined) throw invalid('validating webhook may not return response.patch')
    if (patchType !== undefined) throw invalid('validating webhook may not return response.patchType')
  }
  return {
    allowed: response.allowed === true,
    status: isObject(response.status) ? knownStatus(response.status) : undefined,
    warnings: Array.isArray(response.warnings) ? response.warnings.filter((warning) => typeof warning === 'string') : [],
    patch: mutating ? patch : undefined,
    patchType: isBeta ? 'JSONPatch' : (patchType ?? 'JSONPatch'),
  }
}
