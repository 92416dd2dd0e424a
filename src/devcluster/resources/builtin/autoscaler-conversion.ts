/**
 * Converts HorizontalPodAutoscalers between `autoscaling/v1` and `autoscaling/v2` (k8s.io/kubernetes/pkg/apis/autoscaling/v1:
 * conversion.go). If a value has no field in `v1`, an annotation of the `v1` object contains the value as JSON, in the format of Go's
 * encoder.
 */
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject, stringifyJson } from '../../../api/json.ts'
import { at, listAt, textAt } from '../../apimachinery/unstructured.ts'
import { conversionError } from '../../types/go-convert.ts'
import { kindType } from '../../types/go-types.ts'
import { asGo } from '../../types/go-value.ts'

const annotations = {
  metrics: 'autoscaling.alpha.kubernetes.io/metrics',
  behavior: 'autoscaling.alpha.kubernetes.io/behavior',
  currentMetrics: 'autoscaling.alpha.kubernetes.io/current-metrics',
  conditions: 'autoscaling.alpha.kubernetes.io/conditions',
  scaleDownTolerance: 'autoscaling.alpha.kubernetes.io/scale-down-tolerance',
  scaleUpTolerance: 'autoscaling.alpha.kubernetes.io/scale-up-tolerance',
}

/**
 * A field of a `v1` metric, and its path in a `v2` metric. If the `v2` metric has no value at this path, the `v1` field has the value
 * `ifAbsent`.
 */
type Field = readonly [v1: string, v2: readonly string[], ifAbsent?: string]
type Fields = Readonly<Record<string, readonly Field[]>>

const [metricName, selector]: readonly Field[] = [
  ['metricName', ['metric', 'name']],
  ['selector', ['metric', 'selector']],
]
const external: readonly Field[] = [metricName!, ['metricSelector', ['metric', 'selector']]]
const container: Field = ['container', ['container']]

const resourceTarget: readonly Field[] = [
  ['name', ['name']],
  ['targetAverageUtilization', ['target', 'averageUtilization']],
  ['targetAverageValue', ['target', 'averageValue']],
]
/** The fields of the metrics in `spec`, keyed by the type of the metric. The fields of each type are in the order of Go's struct. */
const specFields: Fields = {
  object: [
    ['target', ['describedObject']],
    metricName!,
    ['targetValue', ['target', 'value'], '0'],
    selector!,
    ['averageValue', ['target', 'averageValue']],
  ],
  pods: [metricName!, ['targetAverageValue', ['target', 'averageValue'], '0'], selector!],
  resource: resourceTarget,
  containerResource: [...resourceTarget, container],
  external: [...external, ['targetValue', ['target', 'value']], ['targetAverageValue', ['target', 'averageValue']]],
}

const resourceCurrent: readonly Field[] = [
  ['name', ['name']],
  ['currentAverageUtilization', ['current', 'averageUtilization']],
  ['currentAverageValue', ['current', 'averageValue'], '0'],
]
/** The fields of the metrics in `status`. The keys are the types of the metrics. The fields have the order of Go's structs. */
const statusFields: Fields = {
  object: [
    ['target', ['describedObject']],
    metricName!,
    ['currentValue', ['current', 'value'], '0'],
    selector!,
    ['averageValue', ['current', 'averageValue']],
  ],
  pods: [metricName!, ['currentAverageValue', ['current', 'averageValue'], '0'], selector!],
  resource: resourceCurrent,
  containerResource: [...resourceCurrent, container],
  external: [...external, ['currentValue', ['current', 'value'], '0'], ['currentAverageValue', ['current', 'averageValue']]],
}

export function autoscalerToV1(object: JsonObject): JsonObject {
  const { metadata, spec, status, ...rest } = object
  const metrics = listAt(spec, 'metrics')
  const current = listAt(status, 'currentMetrics')
  const others = metrics.filter((metric) => utilizationOf(metric, 'target') === undefined)
  const [conditions, behavior] = [listAt(status, 'conditions'), at(spec, 'behavior')]
  const kept: JsonObject = {
    ...(others.length > 0 && { [annotations.metrics]: goJson(others.map((metric) => metricToV1(metric, specFields))) }),
    ...(current.length > 0 && { [annotations.currentMetrics]: goJson(current.map((metric) => metricToV1(metric, statusFields))) }),
    ...(isObject(behavior) && { [annotations.behavior]: goJson(internalBehavior(behavior)) }),
    ...(conditions.length > 0 && { [annotations.conditions]: goJson(conditions) }),
  }
  const { metrics: _metrics, behavior: _behavior, ...ownSpec } = fieldsOf(spec)
  const { currentMetrics: _current, conditions: _conditions, ...ownStatus } = fieldsOf(status)
  const target = metrics.map((metric) => utilizationOf(metric, 'target')).find((value) => value !== undefined)
  const used = current.map((metric) => utilizationOf(metric, 'current')).findLast((value) => value !== undefined)
  return inVersion('v1', {
    ...rest,
    metadata: withAnnotations(fieldsOf(metadata), kept),
    spec: { ...ownSpec, ...(target !== undefined && { targetCPUUtilizationPercentage: target }) },
    status: { ...ownStatus, ...(used !== undefined && { currentCPUUtilizationPercentage: used }) },
  })
}

export function autoscalerToV2(object: JsonObject): JsonObject {
  const { metadata, spec, status, ...rest } = object
  const { targetCPUUtilizationPercentage: target, ...ownSpec } = fieldsOf(spec)
  const { currentCPUUtilizationPercentage: used, ...ownStatus } = fieldsOf(status)
  const cpu = (field: string, value: JsonValue | undefined): JsonValue[] =>
    value === undefined || value === null ? [] : [{ type: 'Resource', resource: { name: 'cpu', [field]: { averageUtilization: value } } }]
  const kept = (name: string): JsonValue | undefined => parsed(at(metadata, 'annotations', name))
  const result = (values: { readonly metrics: JsonValue[]; readonly spec?: JsonObject; readonly status?: JsonObject }): JsonObject =>
    inVersion('v2', {
      ...rest,
      metadata: withAnnotations(fieldsOf(metadata), {}),
      spec: { ...ownSpec, ...values.spec, ...(values.metrics.length > 0 && { metrics: values.metrics }) },
      status: { ...ownStatus, ...values.status },
    })
  const own = cpu('target', target).map((metric) => withTargetType(metric))
  const currentMetrics = cpu('current', used)
  const plain = result({ metrics: own, status: currentMetrics.length > 0 ? { currentMetrics } : {} })
  const behavior = externalBehavior(kept(annotations.behavior))
  const current = kept(annotations.currentMetrics)
  const conditions = kept(annotations.conditions)
  const others = kept(annotations.metrics)
  const full = result({
    metrics: [...(Array.isArray(others) ? others.map((metric) => withTargetType(metricToV2(metric, specFields))) : []), ...own],
    spec: behavior === undefined ? {} : { behavior },
    status: {
      ...(Array.isArray(current)
        ? { currentMetrics: current.map((metric) => metricToV2(metric, statusFields)) }
        : currentMetrics.length > 0 && { currentMetrics }),
      ...(Array.isArray(conditions) && { conditions }),
    },
  })
  // If a value from one of the annotations is invalid in `v2`, kube-apiserver ignores the values of all these annotations.
  return conversionError(kindType(v2)!, full) === undefined ? full : plain
}

const v2 = { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' }

/** Returns the object with the apiVersion of `version`, in the form in which Go encodes this version. */
function inVersion(version: 'v1' | 'v2', object: JsonObject): JsonObject {
  return asGo(kindType({ ...v2, version })!, { ...object, apiVersion: `autoscaling/${version}` })
}

function fieldsOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {}
}

/**
 * Returns the CPU utilization in a metric, or undefined if the metric does not contain the CPU utilization. The CPU utilization is the only
 * metric value that has a field in `v1`.
 */
function utilizationOf(metric: JsonValue, field: 'target' | 'current'): JsonValue | undefined {
  const isCpu = textAt(metric, 'type') === 'Resource' && textAt(metric, 'resource', 'name') === 'cpu'
  return isCpu ? at(metric, 'resource', field, 'averageUtilization') : undefined
}

/** Removes all annotations that contain values of `v2` fields. Adds the annotations in `kept`. */
function withAnnotations(metadata: JsonObject, kept: JsonObject): JsonObject {
  const { annotations: before, ...rest } = metadata
  const own = Object.entries(fieldsOf(before)).filter(([name]) => !Object.values(annotations).includes(name))
  const all = { ...Object.fromEntries(own), ...kept }
  return Object.keys(all).length === 0 ? rest : { ...rest, annotations: all }
}

function fieldOf(type: string): string {
  return type.slice(0, 1).toLowerCase() + type.slice(1)
}

function metricToV1(metric: JsonValue, fields: Fields): JsonObject {
  const type = textAt(metric, 'type')
  const name = fieldOf(type)
  const source = at(metric, name)
  if (!isObject(source)) return { type }
  const result: JsonObject = {}
  for (const [field, path, ifAbsent] of fields[name] ?? []) {
    const value = at(source, ...path) ?? ifAbsent
    if (value !== undefined) result[field] = value
  }
  return { type, [name]: result }
}

function metricToV2(metric: JsonValue, fields: Fields): JsonValue {
  const type = textAt(metric, 'type')
  const name = fieldOf(type)
  const source = at(metric, name)
  if (!isObject(source)) return { type }
  let result: JsonObject = {}
  for (const [field, path] of fields[name] ?? []) {
    const value = source[field]
    if (value !== undefined && value !== null) result = withValue(result, path, value)
  }
  return { type, [name]: result }
}

function withValue(object: JsonObject, [key, ...rest]: readonly string[], value: JsonValue): JsonObject {
  return { ...object, [key!]: rest.length === 0 ? value : withValue(fieldsOf(object[key!]), rest, value) }
}

/** Adds `type` to the target of a metric. `v1` has no such field, so the type is derived from the other fields of the target. */
function withTargetType(metric: JsonValue): JsonValue {
  const type = textAt(metric, 'type')
  const name = fieldOf(type)
  const source = at(metric, name)
  if (!isObject(metric) || !isObject(source)) return metric
  const { value, ...target } = fieldsOf(source.target)
  const isAverage = target.averageValue !== undefined
  const targetType =
    target.averageUtilization !== undefined
      ? 'Utilization'
      : isAverage || name === 'resource' || value === undefined
        ? 'AverageValue'
        : 'Value'
  // In `v1`, `targetValue` of an Object metric is never absent. If the metric also has `averageValue`, a `targetValue` of 0 means that
  // `value` is absent in `v2`.
  const isValueAbsent = value === undefined || (name === 'object' && isAverage && value === '0')
  return { ...metric, [name]: { ...source, target: { type: targetType, ...target, ...(!isValueAbsent && { value }) } } }
}

const ruleFields = ['StabilizationWindowSeconds', 'SelectPolicy', 'Policies', 'Tolerance']
const policyFields = ['Type', 'Value', 'PeriodSeconds']

/**
 * Returns the behavior as kube-apiserver writes it into an annotation of a `v1` object. kube-apiserver serializes its internal Go type
 * there. The fields of this type have no JSON tags, so each key is the name of a Go field, such as `ScaleUp`.
 */
function internalBehavior(behavior: JsonObject): JsonObject {
  const named = (object: JsonValue | undefined, fields: readonly string[]): JsonValue =>
    isObject(object) ? Object.fromEntries(fields.map((field) => [field, object[fieldOf(field)] ?? null])) : null
  const rules = (direction: string): JsonValue => {
    const found = named(behavior[direction], ruleFields)
    if (!isObject(found) || !Array.isArray(found.Policies)) return found
    return { ...found, Policies: found.Policies.map((policy) => named(policy, policyFields)) }
  }
  return { ScaleUp: rules('scaleUp'), ScaleDown: rules('scaleDown') }
}

/** Converts the result of `internalBehavior` to the behavior in `v2`. Returns undefined when there are no rules. */
function externalBehavior(value: JsonValue | undefined): JsonObject | undefined {
  if (!isObject(value)) return undefined
  const named = (object: JsonObject, fields: readonly string[]): JsonObject =>
    Object.fromEntries(
      fields.flatMap((field) => (object[field] === undefined || object[field] === null ? [] : [[fieldOf(field), object[field]]])),
    )
  const entries = ['ScaleUp', 'ScaleDown'].flatMap((direction) => {
    const rules = value[direction]
    if (!isObject(rules)) return []
    const found = named(rules, ruleFields)
    const { policies } = found
    const list = Array.isArray(policies) ? { policies: policies.map((policy) => named(fieldsOf(policy), policyFields)) } : {}
    return [[fieldOf(direction), { ...found, ...list }] as const]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** Returns the value as JSON. The characters `<`, `>`, `&`, U+2028 and U+2029 are escaped, as by Go's `json.Marshal`. */
function goJson(value: object): string {
  return stringifyJson(value).replaceAll(/[<>&\u2028\u2029]/g, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function parsed(text: JsonValue | undefined): JsonValue | undefined {
  try {
    return typeof text === 'string' ? (JSON.parse(text) as JsonValue) : undefined
  } catch {
    return undefined
  }
}
