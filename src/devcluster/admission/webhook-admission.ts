/**
 * Admission control that calls the webhooks of the stored webhook configurations. Mutating webhooks are called one after the other.
 * Validating webhooks are called in parallel.
 */
import { quote } from '../../api/field-error.ts'
import { messageOf } from '../../api/errors.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject, jsonEqual } from '../../api/json.ts'
import { parseJson } from '../../api/json-reader.ts'
import type { Status, StatusDetails } from '../../api/status.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { jsonPatch } from '../patch/json-patch.ts'
import { StatusError, badRequest, internalError } from '../apimachinery/status-error.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { scanJson } from '../apimachinery/duplicate-keys.ts'
import { replaceLoneSurrogates } from '../apimachinery/lone-surrogates.ts'
import { memoized } from '../apimachinery/memoized.ts'
import { goKindOf } from '../types/go-json.ts'
import type { Admission, AdmissionAttributes } from './admission.ts'
import type { Authorizer } from '../access/authorizer.ts'
import type { WebhookCaller } from './caller.ts'
import type { Hook } from './hook.ts'
import { hooksOf } from './hook.ts'
import type { MatchState } from './matcher.ts'
import { matchHook } from './matcher.ts'
import { meetsConditions } from './match-conditions.ts'
import { inNamespace, readPatched } from './patched-object.ts'
import type { ReviewResponse } from './review.ts'
import { CallError, readResponse, reviewRequest } from './review.ts'
import type { VersionedWrite } from './versioned-write.ts'
import { fromVersion, versionsOf } from './versioned-write.ts'

/** The state that webhook admission needs. */
export interface WebhookState extends MatchState {
  /** Returns the stored webhook configurations. While no configuration changes, the result is the same array. */
  configurations(kind: 'mutating' | 'validating'): readonly JsonObject[]
}

type Versions = (info: ResourceInfo) => Promise<VersionedWrite>

export function createWebhookAdmission(options: {
  readonly state: WebhookState
  readonly caller: WebhookCaller
  readonly authorizer: Authorizer
  readonly logger: Logger
  /** Returns a number in [0, 1), for the uids of AdmissionReviews. */
  readonly random: () => number
}): Admission {
  const { state, caller, authorizer, logger, random } = options
  const hooks = { mutating: memoized(hooksOf), validating: memoized(hooksOf) }

  /** Returns the objects of the request in the version that the webhook's rules match; undefined when the webhook must not be called. */
  async function writeFor(hook: Hook, attributes: AdmissionAttributes, inVersion: Versions): Promise<VersionedWrite | undefined> {
    const info = matchHook(hook, attributes, state)
    if (info === undefined) return undefined
    const write = await inVersion(info)
    return meetsConditions(hook, write, authorizer) ? write : undefined
  }

  /**
   * Calls a webhook and validates its response.
   *
   * @throws {StatusError} when the webhook denies the request or does not support a dry run.
   * @throws {CallError} when the call fails.
   */
  async function call(hook: Hook, write: VersionedWrite, mutating: boolean): Promise<ReviewResponse> {
    const { attributes } = write
    if (attributes.context.dryRun && hook.sideEffects !== 'None' && hook.sideEffects !== 'NoneOnDryRun') {
      throw badRequest(`admission webhook ${quote(hook.name)} does not support dry run`)
    }
    const review = reviewRequest(hook, write, random)
    const { timeoutSeconds, clientConfig } = hook
    const { deadline, signal } = attributes.context
    const answer = await caller.call(clientConfig, review.body, { timeoutSeconds, deadline, signal })
    const response = readResponse(answer, review, mutating)
    for (const warning of response.warnings.filter((text) => text !== '')) attributes.context.warn(warning)
    if (!response.allowed) throw new StatusError(denial(hook, response.status))
    return response
  }

  /**
   * Handles a failed call. If `failurePolicy` is `Ignore`, the error is logged. If `failurePolicy` is `Fail`, a 500 error is thrown. An
   * error that is not a `CallError`, such as a denial, is always thrown unchanged.
   */
  function failOpenOrThrow(hook: Hook, error: unknown): void {
    if (!(error instanceof CallError)) throw error
    const text = `failed calling webhook ${quote(hook.name)}: ${error.message}`
    if (hook.failurePolicy === 'Fail') throw internalError(text)
    logger.warn({ webhook: hook.name }, `failing open: ${text}`)
  }

  /**
   * Calls a mutating webhook and applies its patch. Returns the patched object; undefined when the response contains no patch, or a patch
   * without operations.
   */
  async function mutateOnce(
    hook: Hook,
    write: VersionedWrite,
    redefault: (object: JsonObject) => JsonObject,
  ): Promise<{ readonly object: JsonObject; readonly changed: boolean } | undefined> {
    const response = await call(hook, write, true)
    const patched = applyPatch(hook, response, write.object, write.attributes.subresource === '' ? write.info : undefined)
    if (patched === undefined) return undefined
    // `changed` is true for a patch that changes the object, even if `redefault` reverts the change.
    return { object: await fromVersion(patched, write, redefault), changed: !jsonEqual(write.object!, patched) }
  }

  return {
    async mutate(attributes, redefault) {
      let object = attributes.object
      let inVersion = versionsOf(attributes)
      /** Webhooks with `reinvocationPolicy: IfNeeded` that have been called since the latest change of the object. */
      let invoked: Hook[] = []
      /** Webhooks to reinvoke, because another webhook has changed the object after their call. */
      const outdated = new Set<Hook>()
      for (const round of [0, 1]) {
        for (const hook of hooks.mutating(state.configurations('mutating'))) {
          const current: AdmissionAttributes = object === undefined ? attributes : { ...attributes, object }
          const write = await writeFor(hook, current, inVersion)
          if (write === undefined || (round === 1 && !outdated.has(hook))) continue
          try {
            const after = await mutateOnce(hook, write, redefault)
            if (after !== undefined) {
              object = after.object
              inVersion = versionsOf({ ...attributes, object })
            }
            if (after?.changed === true) {
              for (const earlier of invoked) outdated.add(earlier)
              invoked = []
            }
          } catch (error) {
            failOpenOrThrow(hook, error)
          }
          // A webhook can also be reinvoked if its first call has failed.
          if (hook.reinvocationPolicy === 'IfNeeded') invoked.push(hook)
        }
        if (outdated.size === 0) break
      }
      if (object === undefined || object === attributes.object || attributes.subresource !== '') return object
      return inNamespace(object, attributes.info.namespaced ? attributes.namespace : undefined)
    },

    async validate(attributes) {
      const errors: unknown[] = []
      const inVersion = versionsOf(attributes)
      const calls: { readonly hook: Hook; readonly write: VersionedWrite }[] = []
      for (const hook of hooks.validating(state.configurations('validating'))) {
        const write = await writeFor(hook, attributes, inVersion)
        if (write !== undefined) calls.push({ hook, write })
      }
      // The response is sent after all calls have ended, as in kube-apiserver. If several calls fail, the response contains the error of
      // the call that failed first.
      await Promise.all(
        calls.map(({ hook, write }) =>
          call(hook, write, false)
            .catch((error: unknown) => failOpenOrThrow(hook, error))
            .catch((error: unknown) => errors.push(error)),
        ),
      )
      if (errors.length > 0) throw errors[0]
    },
  }
}

/**
 * Applies the patch in a webhook's response. Returns the patched object; undefined when the response contains no patch, or a patch without
 * operations.
 *
 * @param info the type with which the patched object is decoded. For a request to a subresource, `info` is undefined, and the patched
 *   object is not decoded.
 */
function applyPatch(
  hook: Hook,
  { patch, patchType }: ReviewResponse,
  object: JsonObject | undefined,
  info: ResourceInfo | undefined,
): JsonObject | undefined {
  if (patch === undefined) return undefined
  const operations = operationsOf(patch)
  if (operations.length === 0) return undefined
  if (object === undefined) {
    throw internalError(`admission webhook ${quote(hook.name)} attempted to modify the object, which is not supported for this operation`)
  }
  if (patchType !== 'JSONPatch') throw new CallError(`unsupported patch type ${quote(patchType)}`)
  let patched: JsonValue
  try {
    patched = jsonPatch(object, [...operations])
  } catch (error) {
    throw internalError(messageOf(error))
  }
  if (!isObject(patched)) throw internalError('the patched object is not a JSON object')
  return info === undefined ? patched : readPatched(info, patched)
}

/**
 * Returns the operations of a JSON patch; an empty list if the patch is `null`.
 *
 * @throws {CallError} when the patch is invalid.
 */
function operationsOf(text: string): readonly JsonValue[] {
  const patch = replaceLoneSurrogates(text)
  const undecodable = (detail: string): CallError => new CallError(`received undecodable patch in webhook response: ${detail}`)
  const { error } = scanJson(patch)
  if (error !== undefined) throw undecodable(error)
  const operations = parseJson(patch)
  if (operations === null) return []
  if (!Array.isArray(operations)) throw undecodable(`json: cannot unmarshal ${goKindOf(operations)} into Go value of type jsonpatch.Patch`)
  const nonObject = operations.find((operation) => operation !== null && !isObject(operation))
  if (nonObject !== undefined) throw undecodable(`json: cannot unmarshal ${goKindOf(nonObject)} into Go value of type jsonpatch.Operation`)
  return operations
}

/**
 * Returns the error for a denied request: the status in the webhook's response, with the name of the webhook at the beginning of the
 * message (k8s.io/apiserver/pkg/admission/plugin/webhook/errors).
 */
function denial(hook: Hook, status: JsonObject = {}): Status {
  const denied = `admission webhook ${quote(hook.name)} denied the request`
  const { metadata, message, reason, details, code } = status
  const text = (value: JsonValue | undefined): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
  const explanation = text(message) ?? text(reason)
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: isObject(metadata) ? metadata : {},
    // If the status were Success, or the code were below 400, clients would regard the response as a success. Such values are therefore
    // replaced.
    status: (status.status === 'Success' ? undefined : (text(status.status) as Status['status'])) ?? 'Failure',
    message: explanation === undefined ? `${denied} without explanation` : `${denied}: ${explanation}`,
    ...(text(reason) === undefined ? {} : { reason: text(reason)! }),
    ...(isObject(details) ? { details: details as StatusDetails } : {}),
    code: typeof code === 'number' && code >= 400 ? code : 400,
  }
}
