/** Validates MyPods against the rules that the schema cannot express. */
import { core, forbidden, invalid, isApiError, jsonEqual, validateAnnotations, validateLabels } from 'proreus'
import type { AdmissionContext, DeepReadonly, FieldError, StatusCause } from 'proreus'
import type { MyPod } from './kind.ts'
import { creatorLabel, podToCheck } from './pod.ts'

/** Maximum length of a host name. If the name of a Pod is longer, its host name is truncated. */
const hostNameLength = 63

/**
 * Prefix of the generated name of the Pod in a dry-run request. If the API server denies the request with 403, the error message contains
 * the generated name. `checkPod` then returns a warning with the error message. In the warning, the name of the MyPod replaces the
 * generated name.
 */
const checkPrefix = 'mypod-check-'
const checkedName = new RegExp(`"${checkPrefix}[^"]*"`)

/** Validates a MyPod without requests to the API server. */
export function validateMyPod(
  object: DeepReadonly<MyPod>,
  _old: DeepReadonly<MyPod> | undefined,
  { warn }: Pick<AdmissionContext, 'warn'>,
): readonly FieldError[] {
  const { podLabels, podAnnotations } = object.spec
  warnAbout(object, warn)
  return [
    ...validateLabels(podLabels, 'spec.podLabels'),
    ...(podLabels !== undefined && Object.hasOwn(podLabels, creatorLabel)
      ? [forbidden(`spec.podLabels[${creatorLabel}]`, 'the label is set by the operator')]
      : []),
    ...validateAnnotations(podAnnotations, 'spec.podAnnotations'),
  ]
}

/**
 * Validates a MyPod with requests to the API server. The MyPod is invalid if the requester may not create Pods in its namespace. The MyPod
 * is also invalid if the API server rejects a dry-run request for its Pod because the Pod is invalid. If an update does not change the
 * spec, the function checks nothing, because existing MyPods must stay updatable when the rules become stricter.
 */
export async function validateMyPodInCluster(
  object: DeepReadonly<MyPod>,
  old: DeepReadonly<MyPod> | undefined,
  context: AdmissionContext,
): Promise<readonly FieldError[]> {
  if (old !== undefined && jsonEqual(object.spec, old.spec)) return []
  // The dry-run request has the permissions of the operator. It is therefore sent only if the requester may create Pods.
  const refusal = await checkRequester(object, context)
  return refusal.length > 0 ? refusal : checkPod(object, context)
}

/**
 * Checks that the requester may create Pods. Without this check, the permission to create MyPods would include the permission to create any
 * Pod.
 */
async function checkRequester(object: DeepReadonly<MyPod>, { requesterCan, user }: AdmissionContext): Promise<FieldError[]> {
  const namespace = object.metadata.namespace ?? ''
  if (await requesterCan({ verb: 'create', type: core.pod, namespace })) return []
  return [
    forbidden(
      'spec.podSpec',
      `user "${user.username}" cannot create resource "pods" in API group "" in the namespace "${namespace}", which a MyPod needs`,
    ),
  ]
}

/** Validates the Pod with a dry-run create request. */
async function checkPod(object: DeepReadonly<MyPod>, { client, warn }: AdmissionContext): Promise<FieldError[]> {
  try {
    await client.create(core.pod, podToCheck(object, checkPrefix), { dryRun: true })
    return []
  } catch (error) {
    if (!isApiError(error)) throw error
    switch (error.statusCode) {
      case 422:
        return error.causes.length > 0 ? error.causes.map(podCause) : [invalid('spec.podSpec', 'object', error.message)]
      case 400:
        return [invalid('spec.podSpec', 'object', error.message)]
      case 403:
        // A quota or Pod Security denies the Pod now, but may allow it later. Therefore, the MyPod is allowed, and its status will contain
        // the error.
        warn(`the Pod would be refused now: ${error.message.replace(checkedName, `"${object.metadata.name ?? ''}"`)}`)
        return []
      case 404:
        // The API server responded with 404, because the namespace of the MyPod does not exist. The webhook returns no error here, because
        // the API server itself rejects the MyPod with the same 404 error.
        return []
      default:
        throw error
    }
  }
}

/**
 * Converts a cause in the API server's error about a Pod to a validation error of the MyPod. The path of the Pod's field is replaced by the
 * path of the corresponding field of the MyPod.
 */
function podCause({ field = '', message = '', reason }: StatusCause): FieldError {
  const path = field
    .replace(/^spec(?=$|\.)/, 'spec.podSpec')
    .replace(/^metadata\.labels/, 'spec.podLabels')
    .replace(/^metadata\.annotations/, 'spec.podAnnotations')
  return { path, message, reason: (reason ?? 'FieldValueInvalid') as FieldError['reason'] }
}

function warnAbout(object: DeepReadonly<MyPod>, warn: AdmissionContext['warn']): void {
  const podSpec: DeepReadonly<core.PodSpec> = object.spec.podSpec
  if ((object.metadata.name ?? '').length > hostNameLength)
    warn(`metadata.name: longer than ${hostNameLength} characters; the Pod's host name will be cut`)
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
    if (podSpec[field] === true) warn(`spec.podSpec.${field}: shares the node's namespace with the Pod`)
  }
  podSpec.volumes?.forEach((volume, index) => {
    if (volume.hostPath !== undefined) warn(`spec.podSpec.volumes[${index}].hostPath: gives the Pod access to the node's files`)
  })
  for (const field of ['containers', 'initContainers'] as const) {
    podSpec[field]?.forEach((container, index) => {
      if (container.securityContext?.privileged === true)
        warn(`spec.podSpec.${field}[${index}].securityContext.privileged: has full access to the node`)
    })
  }
}
