/** The built-in types LimitRange, ResourceQuota, PodDisruptionBudget, HorizontalPodAutoscaler and PriorityClass. */
import type { FieldError } from '../../../api/field-error.ts'
import { forbidden, invalid, required } from '../../../api/field-error.ts'
import { parseApiVersion } from '../../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { getOwn, isObject } from '../../../api/json.ts'
import { pathSegmentName } from '../../../api/name-syntax.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, createdAtColumn, integerColumn, nameColumn, numberAsText, textColumn } from '../columns.ts'
import { at, listAt, numberAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeItems, changeObjectField, withDefaults } from '../defaulting.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { immutable, invalidStruct, validateEnum, validateOptionalEnum } from './container-validation.ts'
import { systemPriorities } from './pod-admission.ts'
import { validateSelector } from './webhook-validation.ts'

const limitRanges = builtinResource({
  kind: 'LimitRange',
  plural: 'limitranges',
  shortNames: ['limits'],
  columns: [nameColumn, createdAtColumn],
  strategy: {
    default: (object) =>
      changeObjectField(object, 'spec', (spec) =>
        changeItems(spec, 'limits', (item) => {
          if (item.type !== 'Container') return item
          const amounts = (field: string): JsonObject => (isObject(item[field]) ? item[field] : {})
          const limits = withDefaults(amounts('default'), amounts('max'))
          const requests = withDefaults(withDefaults(amounts('defaultRequest'), limits), amounts('min'))
          return {
            ...item,
            ...(Object.keys(limits).length === 0 ? {} : { default: limits }),
            ...(Object.keys(requests).length === 0 ? {} : { defaultRequest: requests }),
          }
        }),
      ),
  },
})

/**
 * Returns `NAME: USED/HARD, …` for some resources of a quota. If `isLimit` is true, these are the resources with the prefix `limits.`. If
 * `isLimit` is false, these are all other resources.
 */
function usage(quota: JsonObject, isLimit: boolean): string {
  const hard = at(quota, 'status', 'hard')
  return Object.entries(isObject(hard) ? hard : {})
    .filter(([name]) => name.startsWith('limits.') === isLimit)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, amount]) => `${name}: ${String(at(quota, 'status', 'used', name) ?? 0)}/${String(amount)}`)
    .join(', ')
}

const resourceQuotas = builtinResource({
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  shortNames: ['quota'],
  status: true,
  columns: [
    nameColumn,
    textColumn('Request', (quota) => usage(quota, false)),
    textColumn('Limit', (quota) => usage(quota, true)),
    ageColumn,
  ],
  strategy: { returnsDeleted: true },
})

function orNotAvailable(value: JsonValue | undefined): string {
  return value === undefined || value === null ? 'N/A' : String(value)
}

const disruptionBudgets = builtinResource({
  group: 'policy',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  shortNames: ['pdb'],
  status: true,
  columns: [
    nameColumn,
    textColumn('Min Available', (object) => orNotAvailable(at(object, 'spec', 'minAvailable'))),
    textColumn('Max Unavailable', (object) => orNotAvailable(at(object, 'spec', 'maxUnavailable'))),
    integerColumn('Allowed Disruptions', (object) => numberAt(object, 'status', 'disruptionsAllowed')),
    ageColumn,
  ],
  strategy: {
    generation: true,
    validate: (object, _old, subresource) => (subresource === 'status' ? [] : validateBudget(object.spec)),
  },
})

const budgetFields = ['minAvailable', 'selector', 'maxUnavailable', 'unhealthyPodEvictionPolicy']

function validateBudget(spec: JsonValue | undefined): FieldError[] {
  const given = ['minAvailable', 'maxUnavailable'].filter((field) => (at(spec, field) ?? null) !== null)
  const selector = at(spec, 'selector')
  return [
    ...(given.length > 1 ? [invalidStruct('spec', spec, budgetFields, 'minAvailable and maxUnavailable cannot be both set')] : []),
    ...given.flatMap((field) => validateAmount(at(spec, field)!, `spec.${field}`)),
    ...(isObject(selector) ? validateSelector(selector, 'spec.selector') : []),
  ]
}

/** Validates an amount that is a number or a percentage. */
function validateAmount(amount: JsonValue, path: string): FieldError[] {
  if (typeof amount === 'number') return amount < 0 ? [invalid(path, amount, 'must be greater than or equal to 0')] : []
  const percent = /^([0-9]+)%$/.exec(String(amount))
  if (percent === null)
    return [
      invalid(
        path,
        amount,
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ),
    ]
  return Number(percent[1]) > 100 ? [invalid(path, amount, 'must not be greater than 100%')] : []
}

/** Returns the cell of the column Targets: the current and target values of the first two metrics. */
function targets(autoscaler: JsonObject): string {
  const list = listAt(autoscaler, 'spec', 'metrics').map((metric, index) => {
    const type = textAt(metric, 'type')
    const field = type.slice(0, 1).toLowerCase() + type.slice(1)
    const [target, current] = [at(metric, field, 'target'), at(listAt(autoscaler, 'status', 'currentMetrics')[index], field, 'current')]
    const name = type === 'Resource' || type === 'ContainerResource' ? `${textAt(metric, field, 'name')}: ` : ''
    const average = at(target, 'averageValue')
    if (average !== undefined)
      return `${name}${String(at(current, 'averageValue') ?? '<unknown>')}/${String(average)}${name === '' && type !== 'Pods' ? ' (avg)' : ''}`
    const percent = (value: JsonValue | undefined, none: string): string => (typeof value === 'number' ? `${value}%` : none)
    if (name !== '')
      return `${name}${percent(at(current, 'averageUtilization'), '<unknown>')}/${percent(at(target, 'averageUtilization'), '<auto>')}`
    return `${String(at(current, 'value') ?? '<unknown>')}/${String(at(target, 'value'))}`
  })
  if (list.length === 0) return '<none>'
  return list.length > 2 ? `${list.slice(0, 2).join(', ')} + ${list.length - 2} more...` : list.join(', ')
}

const cpuMetric = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }
const every15s = (type: string, value: number): JsonObject => ({ type, value, periodSeconds: 15 })

const autoscalers = builtinResource({
  group: 'autoscaling',
  version: 'v2',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  shortNames: ['hpa'],
  categories: ['all'],
  status: true,
  columns: [
    nameColumn,
    textColumn(
      'Reference',
      (object) => `${textAt(object, 'spec', 'scaleTargetRef', 'kind')}/${textAt(object, 'spec', 'scaleTargetRef', 'name')}`,
    ),
    textColumn('Targets', targets),
    textColumn('MinPods', (object) => String(at(object, 'spec', 'minReplicas') ?? '<unset>')),
    numberAsText(integerColumn('MaxPods', (object) => numberAt(object, 'spec', 'maxReplicas'))),
    numberAsText(integerColumn('Replicas', (object) => numberAt(object, 'status', 'currentReplicas'))),
    ageColumn,
  ],
  strategy: {
    default: (object) =>
      changeObjectField(object, 'spec', (spec) => {
        const filled = withDefaults(spec, { minReplicas: 1 })
        const measured = listAt(filled, 'metrics').length === 0 ? { ...filled, metrics: [cpuMetric] } : filled
        return changeObjectField(measured, 'behavior', (behavior) => ({
          ...behavior,
          scaleUp: withDefaults(isObject(behavior.scaleUp) ? behavior.scaleUp : {}, {
            stabilizationWindowSeconds: 0,
            selectPolicy: 'Max',
            policies: [every15s('Pods', 4), every15s('Percent', 100)],
          }),
          scaleDown: withDefaults(isObject(behavior.scaleDown) ? behavior.scaleDown : {}, {
            selectPolicy: 'Max',
            policies: [every15s('Percent', 100)],
          }),
        }))
      }),
    validate: (object, _old, subresource) => (subresource === 'status' ? [] : validateAutoscaler(object.spec)),
  },
})

function validateAutoscaler(spec: JsonValue | undefined): FieldError[] {
  const [min, max] = [numberAt(spec, 'minReplicas'), numberAt(spec, 'maxReplicas')]
  const errors: FieldError[] = []
  if (min < 1) errors.push(invalid('spec.minReplicas', min, 'must be greater than or equal to 1'))
  if (max === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'))
  if (max < 0) errors.push(invalid('spec.maxReplicas', max, 'must be greater than or equal to 1'))
  if (max < min) errors.push(invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'))
  errors.push(...validateTarget(at(spec, 'scaleTargetRef')))
  for (const direction of ['scaleUp', 'scaleDown']) {
    const rules = at(spec, 'behavior', direction)
    if (isObject(rules))
      errors.push(...validateOptionalEnum(rules, 'selectPolicy', `spec.behavior.${direction}`, ['Disabled', 'Max', 'Min']))
  }
  return errors
}

/** Validates the scale target (k8s.io/kubernetes/pkg/apis/autoscaling/validation: ValidateCrossVersionObjectReference). */
function validateTarget(target: JsonValue | undefined): FieldError[] {
  const path = 'spec.scaleTargetRef'
  const errors: FieldError[] = []
  for (const field of ['kind', 'name']) {
    const text = textAt(target, field)
    if (text === '') errors.push(required(`${path}.${field}`))
    errors.push(...pathSegmentName(text).map((message) => invalid(`${path}.${field}`, text, message)))
  }
  const apiVersion = textAt(target, 'apiVersion')
  if (apiVersion.split('/').length > 2) {
    errors.push(invalid(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`))
  } else if (parseApiVersion(apiVersion).group === '' && textAt(target, 'kind') !== 'ReplicationController') {
    errors.push(invalid(`${path}.apiVersion`, apiVersion, 'apiVersion must specify API group'))
  }
  return errors
}

const highestUserPriority = 1_000_000_000

function validatePriority(value: number, name: string): FieldError[] {
  if (!name.startsWith('system-'))
    return value > highestUserPriority
      ? [forbidden('value', `maximum allowed value of a user defined priority is ${highestUserPriority}`)]
      : []
  const refuse = (why: string): FieldError[] => [
    forbidden('metadata.name', `priority class names with 'system-' prefix are reserved for system use only. error: ${why}`),
  ]
  const known = getOwn(systemPriorities as JsonObject, name)
  if (known === undefined) return refuse(`${name} is not a known system priority class`)
  return value === known ? [] : refuse(`value of ${name} PriorityClass must be ${String(known)}`)
}

const priorityClasses = builtinResource({
  group: 'scheduling.k8s.io',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  shortNames: ['pc'],
  namespaced: false,
  columns: [
    nameColumn,
    integerColumn('Value', (object) => numberAt(object, 'value')),
    { ...textColumn('Global-Default', () => ''), type: 'boolean', cell: (object) => object.globalDefault === true },
    ageColumn,
    textColumn('PreemptionPolicy', (object) => textAt(object, 'preemptionPolicy')),
  ],
  strategy: {
    generation: true,
    default: (object) => withDefaults(object, { preemptionPolicy: 'PreemptLowerPriority' }),
    validate: (object, old) => [
      ...validateEnum(object, 'preemptionPolicy', '', ['PreemptLowerPriority', 'Never']),
      ...validatePriority(numberAt(object, 'value'), textAt(object, 'metadata', 'name')),
      ...(old !== undefined && object.value !== old.value ? [forbidden('value', 'may not be changed in an update.')] : []),
      ...(old === undefined ? [] : immutable(object.preemptionPolicy, old.preemptionPolicy, 'preemptionPolicy')),
    ],
  },
})

export const limitResources: readonly ResourceInfo[] = [limitRanges, resourceQuotas, disruptionBudgets, autoscalers, priorityClasses]
