/**
 * The admission plugin PodSecurity (k8s.io/pod-security-admission/admission). It rejects Pods that violate the `enforce` level of their
 * namespace. It warns about Pods and Pod templates that violate the `warn` level.
 */
import { invalidStatus } from '../../api/field-error.ts'
import type { JsonObject } from '../../api/json.ts'
import { isObject, jsonEqual } from '../../api/json.ts'
import { controllerOf } from '../../api/owner-reference.ts'
import type { Labels } from '../../api/label-selector.ts'
import { failure } from '../../api/status.ts'
import { StatusError } from '../apimachinery/status-error.ts'
import { at } from '../apimachinery/unstructured.ts'
import type { Admission, AdmissionAttributes } from './admission.ts'
import { labelsOf } from './matcher.ts'
import { baselineChecks } from './pod-security-baseline.ts'
import type { Check, SecuredContainer, SecuredPod, VersionedCheck, Violation } from './pod-security-check.ts'
import type { LevelVersion } from './pod-security-policy.ts'
import { isStricter, policyOf, textOf } from './pod-security-policy.ts'
import { restrictedChecks } from './pod-security-restricted.ts'

/** Functions that read the stored state for the plugin. */
export interface PodSecurityState {
  /** The labels of a namespace; undefined when the namespace does not exist. */
  namespaceLabels(name: string): Labels | undefined
  podsIn(namespace: string): readonly JsonObject[]
}

/** The path of the Pod template in each type that has a Pod template, keyed by the type's storage key. */
const templates: Readonly<Record<string, readonly string[]>> = {
  '/podtemplates': ['template'],
  '/replicationcontrollers': ['spec', 'template'],
  'apps/replicasets': ['spec', 'template'],
  'apps/deployments': ['spec', 'template'],
  'apps/statefulsets': ['spec', 'template'],
  'apps/daemonsets': ['spec', 'template'],
  'batch/jobs': ['spec', 'template'],
  'batch/cronjobs': ['spec', 'jobTemplate', 'spec', 'template'],
}

/** The plugin does not check requests to these subresources of Pods. Such requests cannot change the fields that the plugin checks. */
const harmless = new Set(['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'])

/**
 * Maximum number of Pods that are checked when a namespace's policy changes (k8s.io/pod-security-admission/admission:
 * defaultNamespaceMaxPodsToCheck).
 */
const maxChecked = 3000

/** Returns `next` with the plugin added. The plugin runs in `validate`, before `next.validate` is called. */
export function withPodSecurity(next: Admission, state: PodSecurityState): Admission {
  return {
    mutate: (attributes, redefault) => next.mutate(attributes, redefault),
    validate(attributes) {
      return Promise.resolve().then(() => {
        if (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE') check(attributes, state)
        return next.validate(attributes)
      })
    },
  }
}

function check(attributes: AdmissionAttributes, state: PodSecurityState): void {
  const { info, subresource, object } = attributes
  if (object === undefined) return
  if (info.storageKey === '/namespaces') {
    if (subresource === '') checkNamespace(attributes, object, state)
    return
  }
  const isPod = info.storageKey === '/pods'
  const template = templates[info.storageKey]
  if (isPod ? harmless.has(subresource) : template === undefined || subresource !== '') return
  const labels = state.namespaceLabels(attributes.namespace ?? '')
  if (labels === undefined) return
  const { policy } = policyOf(labels)
  const pod = isPod ? object : at(object, ...template!)
  if (!isObject(pod)) return
  if (isPod) {
    if (attributes.oldObject !== undefined && !changesImages(securedPod(object), securedPod(attributes.oldObject))) return
    const violations = violationsOf(pod, policy.enforce)
    if (violations.length > 0)
      throw refusal(attributes, `violates PodSecurity "${textOf(policy.enforce)}": ${violations.map(textOfViolation).join(', ')}`)
  }
  const warned = violationsOf(pod, policy.warn)
  if (warned.length > 0)
    attributes.context.warn(`would violate PodSecurity "${textOf(policy.warn)}": ${warned.map(textOfViolation).join(', ')}`)
}

function refusal({ info, name }: AdmissionAttributes, why: string): StatusError {
  const subject = name === '' ? info.plural : `${info.plural} "${name}"`
  return new StatusError(
    failure(403, 'Forbidden', `${subject} is forbidden: ${why}`, { ...(name === '' ? {} : { name }), kind: info.plural }),
  )
}

/** True when an update changes an image, or adds an ephemeral container. As in kube-apiserver, other updates of Pods are not checked. */
function changesImages({ spec }: SecuredPod, { spec: old }: SecuredPod): boolean {
  const images = (containers: readonly SecuredContainer[] = []): string[] => containers.map(({ image = '' }) => image)
  const before = new Map((old.ephemeralContainers ?? []).map(({ name, image }) => [name, image]))
  return (
    !jsonEqual(images(spec.containers), images(old.containers)) ||
    !jsonEqual(images(spec.initContainers), images(old.initContainers)) ||
    (spec.ephemeralContainers ?? []).some(({ name, image }) => !before.has(name) || before.get(name) !== image)
  )
}

/**
 * Rejects a Namespace with invalid Pod Security labels. If the stored Namespace has the same errors, an update is not rejected. If an
 * update makes the level of `enforce` stricter, or changes the version of `enforce`, existing Pods that violate the new level cause
 * warnings.
 */
function checkNamespace({ info, name, oldObject, context }: AdmissionAttributes, object: JsonObject, state: PodSecurityState): void {
  const { policy, errors } = policyOf(labelsOf(object))
  const before = oldObject === undefined ? undefined : policyOf(labelsOf(oldObject))
  if (errors.length > 0 && (before === undefined || before.errors.length === 0 || !isSame(errors, before.errors)))
    throw new StatusError(invalidStatus(info, name, errors, { keepOrder: true }))
  if (before === undefined) return
  const { enforce } = policy
  const old = before.policy.enforce
  if (enforce.level === 'privileged' || textOf(enforce) === textOf(old)) return
  if (enforce.version === old.version && !isStricter(enforce.level, old.level)) return
  for (const warning of namespaceWarnings(name, enforce, state.podsIn(name))) context.warn(warning)
}

function namespaceWarnings(namespace: string, enforce: LevelVersion, pods: readonly JsonObject[]): string[] {
  const seen = new Map<string, string[]>()
  const checked = onePerController(pods).slice(0, maxChecked)
  for (const pod of checked) {
    const reasons = violationsOf(pod, enforce)
      .map(({ reason }) => reason)
      .join(', ')
    if (reasons !== '') seen.set(reasons, [...(seen.get(reasons) ?? []), String(at(pod, 'metadata', 'name'))])
  }
  const lines = [...seen].map(([reasons, names]) => {
    const others = names.length - 1
    const more = others === 0 ? '' : ` (and ${others} other ${others === 1 ? 'pod' : 'pods'})`
    return `${names.sort()[0]!}${more}: ${reasons}`
  })
  return [
    ...(checked.length < pods.length
      ? [`new PodSecurity enforce level only checked against the first ${checked.length} of ${pods.length} existing pods`]
      : []),
    ...(lines.length > 0
      ? [`existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${textOf(enforce)}"`]
      : []),
    ...lines.sort(),
  ]
}

/**
 * Returns the Pods in the order in which they are checked. First come the Pods without a controller and one Pod of each controller, then
 * all other Pods. Only a limited number of Pods is checked. The Pods of one controller are similar, so this order covers as many
 * controllers as possible.
 */
function onePerController(pods: readonly JsonObject[]): readonly JsonObject[] {
  const controllers = new Set<string>()
  const others: JsonObject[] = []
  const first = pods.filter((pod) => {
    const owner = controllerOf(pod as never)?.uid
    if (owner === undefined || !controllers.has(owner)) {
      if (owner !== undefined) controllers.add(owner)
      return true
    }
    others.push(pod)
    return false
  })
  return [...first, ...others]
}

function isSame(a: readonly object[], b: readonly object[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function textOfViolation({ reason, detail }: Violation): string {
  return detail === '' ? reason : `${reason} (${detail})`
}

function violationsOf(pod: JsonObject, levelVersion: LevelVersion): Violation[] {
  return checksOf(levelVersion).flatMap((one) => one(securedPod(pod)) ?? [])
}

function securedPod({ metadata, spec }: JsonObject): SecuredPod {
  return { metadata: isObject(metadata) ? metadata : {}, spec: isObject(spec) ? spec : {} } as SecuredPod
}

/**
 * Returns the checks of a level in a version of the Pod Security Standards. The level `restricted` has the checks of `baseline` first, and
 * then its own checks. The checks of `baseline` that `restricted` overrides are omitted.
 */
function checksOf({ level, version }: LevelVersion): readonly Check[] {
  if (level === 'privileged') return []
  const minor = version === 'latest' ? Infinity : Number(version.slice('v1.'.length))
  const inVersion = ({ since }: VersionedCheck): Check | undefined => since.findLast(([first]) => first <= minor)?.[1]
  const restricted = level === 'restricted' ? restrictedChecks.filter((one) => inVersion(one) !== undefined) : []
  const overridden = new Set(restricted.map(({ overrides }) => overrides))
  return [...baselineChecks.filter(({ id }) => !overridden.has(id)), ...restricted].flatMap((one) => inVersion(one) ?? [])
}
