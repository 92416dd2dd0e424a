/** The built-in types LimitRange, ResourceQuota, PodDisruptionBudget and PriorityClass. */
import type { FieldError } from '../../../api/field-error.ts'
import { forbidden, invalid } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { getOwn, isObject } from '../../../api/json.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, createdAtColumn, integerColumn, nameColumn, textColumn } from '../columns.ts'
import { at, numberAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeItems, changeObjectField, withDefaults } from '../defaulting.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { immutable, invalidStruct, nonNegative, validateEnum, validateOptionalEnum } from './field-checks.ts'
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
 * Returns `NAME: USED/HARD, …` for some resources of a quota. If `isLimit` is true, the resources are those with the prefix `limits.`. If
 * `isLimit` is false, the resources are all others.
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
    validate: (object, _old, subresource) => (subresource === 'status' ? validateBudgetStatus(object.status) : validateBudget(object.spec)),
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
    ...(isObject(spec) ? validateOptionalEnum(spec, 'unhealthyPodEvictionPolicy', 'spec', ['AlwaysAllow', 'IfHealthyBudget']) : []),
  ]
}

const budgetNumbers = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']

function validateBudgetStatus(status: JsonValue | undefined): FieldError[] {
  return budgetNumbers.flatMap((field) => nonNegative(at(status, field), `status.${field}`))
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

export const limitResources: readonly ResourceInfo[] = [limitRanges, resourceQuotas, disruptionBudgets, priorityClasses]
