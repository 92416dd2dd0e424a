/** The Pods of a Job: functions that build them, remove their finalizer, and report which of them have succeeded or failed. */
import type { Pod } from '../../../../api/builtin.ts'
import { pod as podType } from '../../../../api/builtin.ts'
import { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { ObjectInput } from '../../../../api/object.ts'
import { controllerOf, refersTo } from '../../../../api/owner-reference.ts'
import { isNotFound } from '../../../../client/api-error.ts'
import type { ReconcileContext } from '../../../../controller/reconciler.ts'
import type { ReadonlyObject, ReadonlyPod } from '../../api-types.ts'
import { podFromTemplate } from '../pod-control.ts'
import { isTerminating } from '../pod-state.ts'
import { indexAnnotation } from './indexes.ts'

type Job = DeepReadonly<batch.Job>

/** The finalizer of the Pods of a Job. When a Pod has been counted, the Job controller removes the finalizer from the Pod. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking'

/** Maximum length of the prefix of a generated name. */
const maxPrefixLength = 58

/** The environment variable that contains the index of a Pod. */
const indexVariable = 'JOB_COMPLETION_INDEX'

export function isTracked({ metadata }: ReadonlyPod): boolean {
  return metadata.finalizers?.includes(trackingFinalizer) ?? false
}

/** Returns true when a Job is the controller of the object. */
export function isOfJob(object: ReadonlyObject): boolean {
  const owner = controllerOf(object)
  return owner !== undefined && refersTo(owner, batch.job)
}

export function isIndexed({ spec }: Job): boolean {
  return spec?.completionMode === 'Indexed'
}

/**
 * Returns true when the Job replaces a Pod only after the Pod has ended. By default, the Job replaces a Pod as soon as the Pod is being
 * deleted, and the function returns false.
 */
export function replacesOnlyFailed({ spec }: Job): boolean {
  return spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy !== undefined
}

/**
 * Returns true when the phase of the Pod is `Failed`. If the Job replaces a Pod as soon as the Pod is being deleted (see
 * `replacesOnlyFailed`), also returns true when the Pod is being deleted and has not ended.
 */
export function hasFailed(pod: ReadonlyPod, job: Job): boolean {
  return pod.status?.phase === 'Failed' || (isTerminating(pod) && !replacesOnlyFailed(job))
}

export function hasSucceeded({ status }: ReadonlyPod): boolean {
  return status?.phase === 'Succeeded'
}

/** Returns the Pod that a Job creates. For an Indexed Job, the caller passes the index of the Pod and additional annotations. */
export function podOf(job: Job, index?: number, annotations?: Readonly<Record<string, string>>): ObjectInput<Pod> {
  const { name } = job.metadata
  const template = job.spec?.template
  const { metadata, spec } = podFromTemplate(template, job)
  const tracked = {
    ...metadata,
    finalizers: [...(metadata.finalizers ?? []).filter((one) => one !== trackingFinalizer), trackingFinalizer],
  }
  if (index === undefined) return { metadata: tracked, spec } as ObjectInput<Pod>
  const mark = { [indexAnnotation]: String(index) }
  const suffix = `-${index}-`
  return {
    metadata: {
      ...tracked,
      generateName: name.slice(0, maxPrefixLength - suffix.length) + suffix,
      annotations: { ...metadata.annotations, ...mark, ...annotations },
      labels: { ...metadata.labels, ...mark },
    },
    spec: {
      ...spec,
      hostname: `${name}-${index}`,
      containers: (spec?.containers ?? []).map(withIndexVariable),
      ...(spec?.initContainers !== undefined && { initContainers: spec.initContainers.map(withIndexVariable) }),
    },
  } as ObjectInput<Pod>
}

function withIndexVariable<C extends { readonly env?: readonly { readonly name: string }[] }>(container: C): C {
  const { env = [] } = container
  if (env.some(({ name }) => name === indexVariable)) return container
  const variable = { name: indexVariable, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${indexAnnotation}']` } } }
  return { ...container, env: [...env, variable] }
}

/** Removes `trackingFinalizer` from a Pod. Does nothing when the Pod does not exist. */
export async function removeFinalizer({ metadata }: ReadonlyPod, { client }: ReconcileContext): Promise<void> {
  const finalizers = (metadata.finalizers ?? []).filter((one) => one !== trackingFinalizer)
  const patch = { metadata: { uid: metadata.uid, resourceVersion: metadata.resourceVersion, finalizers } }
  await client.patch(podType, metadata, patch).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
}
