/** Deployments, ReplicaSets, StatefulSets, DaemonSets. */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid, notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject, jsonEqual } from '../../../api/json.ts'
import type { LabelSelector, Labels } from '../../../api/label-selector.ts'
import { formatLabelSelector, matchesLabels, requirementsOf } from '../../../api/label-selector.ts'
import { validateLabels } from '../../../api/object-meta.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, at, integerColumn, listAt, nameColumn, numberAt, textAt, textColumn } from '../columns.ts'
import { changeObjectField, withDefaults } from '../defaults.ts'
import type { Column, ResourceInfo, Strategy, SubresourceInfo } from '../resource-info.ts'
import { defaultPodTemplate } from './pod-defaults.ts'
import { validatePodSpec } from './pod-validation.ts'

const group = 'apps'

/** The `scale` subresource of types with `spec.replicas`. */
const scale: SubresourceInfo = {
  kind: 'Scale',
  group: 'autoscaling',
  version: 'v1',
  verbs: ['get', 'patch', 'update'],
  read: (object) => {
    const { name, namespace, uid, resourceVersion, creationTimestamp } = isObject(object.metadata) ? object.metadata : {}
    return {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
      spec: { replicas: numberAt(object, 'spec', 'replicas') },
      status: { replicas: numberAt(object, 'status', 'replicas'), selector: formatSelector(at(object, 'spec', 'selector'), '') },
    }
  },
  write: (object, written) => changeObjectField(object, 'spec', (spec) => ({ ...spec, replicas: numberAt(written, 'spec', 'replicas') })),
}

/** A strategy for types with a selector and a template. */
function workload(defaults: (spec: JsonObject) => JsonObject, options: { readonly restartPolicies?: readonly string[] } = {}): Strategy {
  return {
    generation: true,
    default: (object) => changeObjectField(object, 'spec', (spec) => defaults(changeObjectField(spec, 'template', defaultPodTemplate))),
    prepareForCreate: (object) => ({ ...object, status: {} }),
    validate: (object, old, subresource) =>
      subresource === 'status' ? [] : validateWorkload(object, old, options.restartPolicies ?? ['Always']),
  }
}

function validateWorkload(object: JsonObject, old: JsonObject | undefined, restartPolicies: readonly string[]): FieldError[] {
  const spec = isObject(object.spec) ? object.spec : {}
  const labels = at(spec, 'template', 'metadata', 'labels')
  const errors: FieldError[] = []
  if (!isObject(spec.selector)) errors.push(required('spec.selector'))
  else if (Object.keys(spec.selector).length === 0)
    errors.push(invalid('spec.selector', spec.selector, 'empty selector is invalid for deployment'))
  else if (!matchesLabels(requirementsOf(spec.selector as unknown as LabelSelector), (isObject(labels) ? labels : {}) as Labels)) {
    errors.push(invalid('spec.template.metadata.labels', isObject(labels) ? labels : {}, '`selector` does not match template `labels`'))
  }
  if (old !== undefined && !jsonEqual(spec.selector, at(old, 'spec', 'selector')))
    errors.push(invalid('spec.selector', spec.selector ?? {}, 'field is immutable'))
  if (typeof spec.replicas === 'number' && spec.replicas < 0)
    errors.push(invalid('spec.replicas', spec.replicas, 'must be greater than or equal to 0'))
  errors.push(...validateLabels(labels, 'spec.template.labels'), ...validatePodSpec(at(spec, 'template', 'spec'), 'spec.template.spec'))
  const policy = textAt(spec, 'template', 'spec', 'restartPolicy')
  if (policy !== '' && !restartPolicies.includes(policy))
    errors.push(notSupported('spec.template.spec.restartPolicy', policy, restartPolicies))
  return errors
}

function formatSelector(selector: JsonValue | undefined, none = '<none>'): string {
  const text = isObject(selector) ? formatLabelSelector(requirementsOf(selector as unknown as LabelSelector)) : ''
  return text === '' ? none : text
}

function count(name: string, ...path: readonly string[]): Column {
  return integerColumn(name, (object) => numberAt(object, ...path))
}

/** Containers, images and selector, for `-o wide`. */
export const templateColumns: readonly Column[] = [
  textColumn(
    'Containers',
    (object) =>
      containersOf(object)
        .map((container) => textAt(container, 'name'))
        .join(','),
    1,
  ),
  textColumn(
    'Images',
    (object) =>
      containersOf(object)
        .map((container) => textAt(container, 'image'))
        .join(','),
    1,
  ),
]
const selectorColumn = textColumn('Selector', (object) => formatSelector(at(object, 'spec', 'selector')), 1)

function containersOf(object: JsonObject): readonly JsonValue[] {
  return listAt(object, 'spec', 'template', 'spec', 'containers')
}

function readyOf(object: JsonObject): string {
  return `${numberAt(object, 'status', 'readyReplicas')}/${numberAt(object, 'spec', 'replicas')}`
}

const rollingUpdate = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } }

const deployments = builtinResource({
  group,
  kind: 'Deployment',
  plural: 'deployments',
  shortNames: ['deploy'],
  categories: ['all'],
  status: true,
  subresources: { scale },
  columns: [
    nameColumn,
    textColumn('Ready', readyOf),
    textColumn('Up-to-date', (object) => String(numberAt(object, 'status', 'updatedReplicas'))),
    textColumn('Available', (object) => String(numberAt(object, 'status', 'availableReplicas'))),
    ageColumn,
    ...templateColumns,
    selectorColumn,
  ],
  strategy: workload((spec) => {
    const filled = withDefaults(spec, { replicas: 1, strategy: rollingUpdate, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 })
    return changeObjectField(filled, 'strategy', (strategy) => {
      const typed = withDefaults(strategy, { type: 'RollingUpdate' })
      if (typed.type !== 'RollingUpdate') return typed
      return changeObjectField(withDefaults(typed, { rollingUpdate: {} }), 'rollingUpdate', (update) =>
        withDefaults(update, rollingUpdate.rollingUpdate),
      )
    })
  }),
})

const replicaSets = builtinResource({
  group,
  kind: 'ReplicaSet',
  plural: 'replicasets',
  shortNames: ['rs'],
  categories: ['all'],
  status: true,
  subresources: { scale },
  columns: [
    nameColumn,
    count('Desired', 'spec', 'replicas'),
    count('Current', 'status', 'replicas'),
    count('Ready', 'status', 'readyReplicas'),
    ageColumn,
    ...templateColumns,
    selectorColumn,
  ],
  selectableFields: (object) => ({ 'status.replicas': String(numberAt(object, 'status', 'replicas')) }),
  strategy: workload((spec) => withDefaults(spec, { replicas: 1 })),
})

const statefulSets = builtinResource({
  group,
  kind: 'StatefulSet',
  plural: 'statefulsets',
  shortNames: ['sts'],
  categories: ['all'],
  status: true,
  subresources: { scale },
  columns: [nameColumn, textColumn('Ready', readyOf), ageColumn, ...templateColumns],
  strategy: workload((spec) =>
    withDefaults(spec, {
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      revisionHistoryLimit: 10,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    }),
  ),
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
    textColumn('Node Selector', (object) => {
      const selector = at(object, 'spec', 'template', 'spec', 'nodeSelector')
      return formatSelector(isObject(selector) ? { matchLabels: selector } : undefined)
    }),
    ageColumn,
    ...templateColumns,
    selectorColumn,
  ],
  strategy: workload((spec) =>
    withDefaults(spec, {
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      revisionHistoryLimit: 10,
    }),
  ),
})

export const workloadResources: readonly ResourceInfo[] = [deployments, replicaSets, statefulSets, daemonSets]
