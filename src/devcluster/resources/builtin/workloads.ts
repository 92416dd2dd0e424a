/** The built-in types Deployment, ReplicaSet and DaemonSet, and the code that they share with StatefulSets. */
import type { FieldError } from '../../../api/field-error.ts'
import { forbidden, invalid, notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject, jsonEqual } from '../../../api/json.ts'
import type { LabelSelector, Labels } from '../../../api/label-selector.ts'
import { formatLabelSelector, matchesLabels, requirementsOf } from '../../../api/label-selector.ts'
import { invalidObject } from '../../apimachinery/status-error.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, formatLabels, integerColumn, nameColumn, numberAsText, textColumn } from '../columns.ts'
import { at, listAt, numberAt, sizeAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeObjectField, withDefaults } from '../defaulting.ts'
import type { Column } from '../../rest/column.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import type { Strategy } from '../../rest/strategy.ts'
import type { SubresourceInfo } from '../../rest/subresource.ts'
import { immutable, nonNegative, notSupportedStruct } from './field-checks.ts'
import { defaultPodTemplate } from './pod-defaults.ts'
import { validatePodTemplate } from './pod-validation.ts'
import { validateDaemonSetUpdate, validateDeploymentUpdate } from './rolling-update.ts'
import { validateSelector } from './webhook-validation.ts'

const group = 'apps'

/** The apiVersions of the `managedFields` entries in which managers can own `spec.replicas` (k8s.io/kubernetes/pkg/registry/apps). */
const replicaVersions: ReadonlySet<string> = new Set(['v1', 'v1beta1', 'v1beta2'].map((version) => `${group}/${version}`))

/** The `scale` subresource of the types of the group `apps`. */
export const scale: SubresourceInfo = scaleOf(replicaVersions, (spec) => formatSelector(at(spec, 'selector'), ''))

/**
 * Returns the `scale` subresource of a type with `spec.replicas`.
 *
 * @param versions the apiVersions of the `managedFields` entries in which managers can own `spec.replicas`.
 * @param selectorOf returns the selector of a spec, in the notation of the query parameter `labelSelector`.
 */
export function scaleOf(versions: ReadonlySet<string>, selectorOf: (spec: JsonValue | undefined) => string): SubresourceInfo {
  return {
    kind: 'Scale',
    group: 'autoscaling',
    version: 'v1',
    verbs: ['get', 'patch', 'update'],
    replicasPath: (apiVersion) => (versions.has(apiVersion) ? ['spec', 'replicas'] : undefined),
    read: (object) => {
      const replicas = numberAt(object, 'spec', 'replicas')
      const { name, namespace, uid, resourceVersion, creationTimestamp } = isObject(object.metadata) ? object.metadata : {}
      return {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
        // Go omits a 0 in the spec of a Scale, but not in its status.
        spec: replicas === 0 ? {} : { replicas },
        status: { replicas: numberAt(object, 'status', 'replicas'), selector: selectorOf(object.spec) },
      }
    },
    write: (object, written) => {
      const replicas = numberAt(written, 'spec', 'replicas')
      const errors = nonNegative(replicas, 'spec.replicas')
      if (errors.length > 0) throw invalidObject({ group: 'autoscaling', kind: 'Scale' }, textAt(object, 'metadata', 'name'), errors)
      return changeObjectField(object, 'spec', (spec) => ({ ...spec, replicas }))
    },
  }
}

/** The rules that workloads share. */
interface SharedRules {
  /** Validates that the values of `fields` are not negative. */
  readonly numbers: (...fields: readonly string[]) => FieldError[]
  /** Validates the selector and the Pod template. */
  readonly template: () => FieldError[]
  /** Validates that an update does not change the selector. */
  readonly sameSelector: () => FieldError[]
}

/** Returns the `Strategy` of a type with a selector and a Pod template. */
export function workload(options: {
  /** The name of the type in kube-apiserver's messages. */
  readonly name: string
  readonly defaults: (spec: JsonObject) => JsonObject
  /** Changes the spec in a create or update request, after mutating admission. */
  readonly prepare?: (spec: JsonObject) => JsonObject
  /** Validates the spec with the rules of the type and the shared rules, in the order of kube-apiserver. */
  readonly validate: (spec: JsonObject, old: JsonObject | undefined, shared: SharedRules) => FieldError[]
  /** Returns the Pod spec to validate. Default: the spec in the Pod template. */
  readonly podSpec?: (spec: JsonObject) => JsonValue | undefined
}): Strategy {
  const { name, defaults, validate, prepare = (spec) => spec, podSpec = (spec) => at(spec, 'template', 'spec') } = options
  return {
    generation: true,
    default: (object) => changeObjectField(object, 'spec', (spec) => defaults(changeObjectField(spec, 'template', defaultPodTemplate))),
    prepareForCreate: (object) => changeObjectField(object, 'spec', prepare),
    prepareForUpdate: (object) => changeObjectField(object, 'spec', prepare),
    validate(object, old, subresource) {
      if (subresource === 'status') return []
      const spec = isObject(object.spec) ? object.spec : {}
      const before = isObject(old?.spec) ? old.spec : undefined
      return validate(spec, before, sharedRules(spec, before, name, podSpec(spec)))
    },
  }
}

/** Validates the selector of a workload. The selector must match the labels of the workload's Pod template. */
function validateOwnSelector({ selector, template }: JsonObject, name: string): FieldError[] {
  const isDaemonSet = name === 'daemonset'
  const labels = at(template, 'metadata', 'labels')
  const mismatch = invalid('spec.template.metadata.labels', labels ?? null, '`selector` does not match template `labels`')
  // A missing selector matches no labels, so `mismatch` is reported. An empty selector matches all labels, so `mismatch` is not reported.
  if (!isObject(selector)) return isDaemonSet ? [mismatch] : [required('spec.selector'), mismatch]
  const errors = validateSelector(selector, 'spec.selector')
  if (sizeAt(selector, 'matchLabels') + sizeAt(selector, 'matchExpressions') === 0)
    return [...errors, invalid('spec.selector', selector, `empty selector is invalid for ${name}`)]
  if (errors.length > 0) return isDaemonSet ? errors : [...errors, unreadable(selector, name)]
  const isMatch = matchesLabels(requirementsOf(selector as unknown as LabelSelector), (isObject(labels) ? labels : {}) as Labels)
  return isMatch ? [] : [mismatch]
}

/**
 * Returns the error for the whole selector. If a selector is invalid, kube-apiserver reports this error after the errors for the parts of
 * the selector. The message of this error contains the value of the selector and the text `invalid label selector`. For a StatefulSet, the
 * message contains only the value.
 */
function unreadable(selector: JsonObject, name: string): FieldError {
  const matchExpressions = listAt(selector, 'matchExpressions').map((one) => {
    const values = at(one, 'values')
    return { key: textAt(one, 'key'), operator: textAt(one, 'operator'), ...(values !== undefined && { values }) }
  })
  const { matchLabels } = selector
  const printed = JSON.stringify({ matchLabels, ...(matchExpressions.length > 0 && { matchExpressions }) })
  const message = `Invalid value: ${printed}${name === 'statefulset' ? '' : ': invalid label selector'}`
  return { path: 'spec.selector', reason: 'FieldValueInvalid', message }
}

/** For each workload type, the kind in kube-apiserver's error about `activeDeadlineSeconds`. */
const templateOwners: Readonly<Record<string, string>> = { deployment: 'ReplicaSet', statefulset: 'StatefulSet', daemonset: 'DaemonSet' }

function sharedRules(spec: JsonObject, old: JsonObject | undefined, name: string, podSpec: JsonValue | undefined): SharedRules {
  return {
    numbers: (...fields) => fields.flatMap((field) => nonNegative(spec[field], `spec.${field}`)),
    template: () => [...validateOwnSelector(spec, name), ...validateOwnTemplate(spec, name, podSpec)],
    sameSelector: () => (old === undefined ? [] : immutable(spec.selector, old.selector, 'spec.selector')),
  }
}

function validateOwnTemplate(spec: JsonObject, name: string, podSpec: JsonValue | undefined): FieldError[] {
  const errors = validatePodTemplate(spec.template, 'spec.template', podSpec)
  const policy = textAt(spec, 'template', 'spec', 'restartPolicy')
  if (policy !== '' && policy !== 'Always') errors.push(notSupported('spec.template.spec.restartPolicy', policy, ['Always']))
  if (typeof at(spec, 'template', 'spec', 'activeDeadlineSeconds') === 'number')
    errors.push(forbidden('spec.template.spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${templateOwners[name]!} is not Supported`))
  return errors
}

/** Formats a label selector as in the query parameter `labelSelector`. For an empty selector, returns `none`. */
export function formatSelector(selector: JsonValue | undefined, none = '<none>'): string {
  const requirements = isObject(selector) ? requirementsOf(selector as unknown as LabelSelector) : []
  const text = formatLabelSelector(requirements.map((one) => ({ ...one, values: one.values.toSorted() })))
  return text === '' ? none : text
}

function count(name: string, ...path: readonly string[]): Column {
  return integerColumn(name, (object) => numberAt(object, ...path))
}

/**
 * Returns the columns for `-o wide`: the containers and images of the Pod template, and the selector. `path` is the path of the object that
 * contains `template` and `selector`.
 */
export function templateColumns(...path: readonly string[]): readonly [Column, Column, Column] {
  return [
    textColumn('Containers', fieldsOfContainers('name', path), 1),
    textColumn('Images', fieldsOfContainers('image', path), 1),
    textColumn('Selector', (object) => formatSelector(at(object, ...path, 'selector')), 1),
  ]
}

/**
 * Returns a function that reads a field of all containers of a Pod template, and joins the values with commas. `path` leads to the object
 * that contains the field `template`.
 */
export function fieldsOfContainers(field: string, path: readonly string[]): (object: JsonObject) => string {
  return (object) =>
    listAt(object, ...path, 'template', 'spec', 'containers')
      .map((container) => textAt(container, field))
      .join(',')
}

export function readyOf(object: JsonObject): string {
  return `${numberAt(object, 'status', 'readyReplicas')}/${numberAt(object, 'spec', 'replicas')}`
}

export const strategyFields = ['type', 'rollingUpdate']

/**
 * Applies the default type `RollingUpdate` to an update strategy. If the resulting type is `RollingUpdate`, also applies `defaults` to the
 * field `rollingUpdate`.
 */
export function rolling(strategy: JsonObject, defaults: JsonObject): JsonObject {
  const typed = withDefaults(strategy, { type: 'RollingUpdate' })
  if (typed.type !== 'RollingUpdate') return typed
  return changeObjectField(withDefaults(typed, { rollingUpdate: {} }), 'rollingUpdate', (update) => withDefaults(update, defaults))
}

const deployments = builtinResource({
  group,
  kind: 'Deployment',
  plural: 'deployments',
  shortNames: ['deploy'],
  categories: ['all'],
  status: true,
  metadataKeptByStatus: ['labels'],
  subresources: { scale },
  columns: [
    nameColumn,
    textColumn('Ready', readyOf),
    numberAsText(count('Up-to-date', 'status', 'updatedReplicas')),
    numberAsText(count('Available', 'status', 'availableReplicas')),
    ageColumn,
    ...templateColumns('spec'),
  ],
  strategy: workload({
    name: 'deployment',
    defaults: (spec) => {
      const filled = withDefaults(spec, { replicas: 1, strategy: {}, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 })
      return changeObjectField(filled, 'strategy', (strategy) => rolling(strategy, { maxUnavailable: '25%', maxSurge: '25%' }))
    },
    validate: (spec, _old, { numbers, template, sameSelector }) => [
      ...numbers('replicas'),
      ...template(),
      ...validateStrategy(spec.strategy),
      ...numbers('minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'),
      ...validateDeadline(spec),
      ...sameSelector(),
    ],
  }),
})

/** Validates the strategy of a Deployment (k8s.io/kubernetes/pkg/apis/apps/validation: ValidateDeploymentStrategy). */
function validateStrategy(strategy: JsonValue | undefined): FieldError[] {
  const types = ['Recreate', 'RollingUpdate']
  const [type, rollingUpdate, path] = [textAt(strategy, 'type'), at(strategy, 'rollingUpdate'), 'spec.strategy.rollingUpdate']
  if (!types.includes(type)) return [notSupportedStruct('spec.strategy', strategy, strategyFields, types)]
  if (type === 'RollingUpdate') return validateDeploymentUpdate(rollingUpdate, path)
  return isObject(rollingUpdate) ? [forbidden(path, "may not be specified when strategy `type` is 'Recreate'")] : []
}

function validateDeadline({ progressDeadlineSeconds: deadline, minReadySeconds }: JsonObject): FieldError[] {
  return typeof deadline === 'number' && deadline <= (typeof minReadySeconds === 'number' ? minReadySeconds : 0)
    ? [invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')]
    : []
}

/** The columns that ReplicaSets and ReplicationControllers share. */
export const replicaColumns: readonly Column[] = [
  nameColumn,
  count('Desired', 'spec', 'replicas'),
  count('Current', 'status', 'replicas'),
  count('Ready', 'status', 'readyReplicas'),
  ageColumn,
]

const replicaSets = builtinResource({
  group,
  kind: 'ReplicaSet',
  plural: 'replicasets',
  shortNames: ['rs'],
  categories: ['all'],
  status: true,
  subresources: { scale },
  columns: [...replicaColumns, ...templateColumns('spec')],
  strategy: workload({
    name: 'deployment',
    defaults: (spec) => withDefaults(spec, { replicas: 1 }),
    validate: (_spec, _old, { numbers, template, sameSelector }) => [
      ...numbers('replicas', 'minReadySeconds'),
      ...template(),
      ...sameSelector(),
    ],
  }),
})

const daemonSets = builtinResource({
  group,
  kind: 'DaemonSet',
  plural: 'daemonsets',
  shortNames: ['ds'],
  categories: ['all'],
  status: true,
  columns: [
    nameColumn,
    count('Desired', 'status', 'desiredNumberScheduled'),
    count('Current', 'status', 'currentNumberScheduled'),
    count('Ready', 'status', 'numberReady'),
    count('Up-to-date', 'status', 'updatedNumberScheduled'),
    count('Available', 'status', 'numberAvailable'),
    textColumn('Node Selector', (object) => formatLabels(at(object, 'spec', 'template', 'spec', 'nodeSelector'))),
    ageColumn,
    ...templateColumns('spec'),
  ],
  strategy: daemonSetStrategy(),
})

/** Validates the update strategy of a DaemonSet (k8s.io/kubernetes/pkg/apis/apps/validation: ValidateDaemonSetUpdateStrategy). */
function validateUpdateStrategy(strategy: JsonValue | undefined): FieldError[] {
  const types = ['RollingUpdate', 'OnDelete']
  const type = textAt(strategy, 'type')
  if (!types.includes(type)) return [notSupportedStruct('spec.updateStrategy', strategy, strategyFields, types)]
  return type === 'OnDelete' ? [] : validateDaemonSetUpdate(at(strategy, 'rollingUpdate'), 'spec.updateStrategy.rollingUpdate')
}

const generationAnnotation = 'deprecated.daemonset.template.generation'

/**
 * Returns the `Strategy` of DaemonSets. An annotation contains the generation of the Pod template. The generation starts at 1, and
 * increases by 1 with each update that changes the Pod template. The annotation replaces the field `templateGeneration` of
 * extensions/v1beta1.
 */
function daemonSetStrategy(): Strategy {
  const strategy = workload({
    name: 'daemonset',
    defaults: (spec) => {
      const filled = withDefaults(spec, { updateStrategy: {}, revisionHistoryLimit: 10 })
      return changeObjectField(filled, 'updateStrategy', (update) => rolling(update, { maxUnavailable: 1, maxSurge: 0 }))
    },
    validate: ({ updateStrategy }, _old, { numbers, template, sameSelector }) => [
      ...sameSelector(),
      ...template(),
      ...numbers('minReadySeconds'),
      ...validateUpdateStrategy(updateStrategy),
      ...numbers('revisionHistoryLimit'),
    ],
  })
  const annotated = (object: JsonObject, generation: number): JsonObject =>
    changeObjectField(object, 'metadata', (metadata) => ({
      ...metadata,
      annotations: { ...(isObject(metadata.annotations) ? metadata.annotations : {}), [generationAnnotation]: String(generation) },
    }))
  return {
    ...strategy,
    default: (object) => {
      const filled = strategy.default!(object)
      return textAt(filled, 'metadata', 'annotations', generationAnnotation) === '' ? annotated(filled, 1) : filled
    },
    prepareForUpdate: (object, old) => {
      const before = Number(textAt(old, 'metadata', 'annotations', generationAnnotation)) || 1
      const changed = !jsonEqual(at(object, 'spec', 'template') ?? null, at(old, 'spec', 'template') ?? null)
      return annotated(object, changed ? before + 1 : before)
    },
  }
}

export const workloadResources: readonly ResourceInfo[] = [deployments, replicaSets, daemonSets]
