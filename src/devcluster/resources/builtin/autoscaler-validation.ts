/** Validation of HorizontalPodAutoscalers (k8s.io/kubernetes/pkg/apis/autoscaling/validation). */
import type { FieldError } from '../../../api/field-error.ts'
import { forbidden, invalid, notSupported, required } from '../../../api/field-error.ts'
import { parseApiVersion } from '../../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { pathSegmentName, shortName } from '../../../api/name-syntax.ts'
import { parseQuantity } from '../../apimachinery/quantity.ts'
import { at, listAt, numberAt, textAt } from '../../apimachinery/unstructured.ts'
import { nonNegative, objects, validateOptionalEnum } from './field-checks.ts'
import { validateContainerResource } from './pod-spec/resource-requirements.ts'
import { quantityText } from './quantity-text.ts'

/** Validates the spec in the version `autoscaling/v2`. */
export function validateAutoscaler(spec: JsonValue | undefined): FieldError[] {
  const [min, max] = [numberAt(spec, 'minReplicas'), numberAt(spec, 'maxReplicas')]
  const metrics = objects(listAt(spec, 'metrics'))
  const scalesToZero = metrics.some(([{ type }]) => type === 'Object' || type === 'External')
  const errors: FieldError[] = []
  if (min < 1) errors.push(invalid('spec.minReplicas', min, 'must be greater than or equal to 1'))
  if (max === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'))
  if (max < 0) errors.push(invalid('spec.maxReplicas', max, 'must be greater than or equal to 1'))
  if (max < min) errors.push(invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'))
  errors.push(
    ...validateReference(at(spec, 'scaleTargetRef'), 'spec.scaleTargetRef', at(spec, 'scaleTargetRef', 'kind') === 'ReplicationController'),
  )
  errors.push(...metrics.flatMap(([metric, index]) => validateMetric(metric, `spec.metrics[${index}]`)))
  if (min === 0 && !scalesToZero)
    errors.push(forbidden('spec.metrics', 'must specify at least one Object or External metric to support scaling to zero replicas'))
  for (const direction of ['scaleUp', 'scaleDown']) {
    const rules = at(spec, 'behavior', direction)
    if (isObject(rules)) errors.push(...validateScalingRules(rules, `spec.behavior.${direction}`))
  }
  return errors
}

export function validateAutoscalerStatus(status: JsonValue | undefined): FieldError[] {
  return ['currentReplicas', 'desiredReplicas'].flatMap((field) => nonNegative(at(status, field), `status.${field}`))
}

/**
 * Validates a reference to an object (ValidateCrossVersionObjectReference). If `mayBeCore` is false, the apiVersion of the reference must
 * contain an API group.
 */
function validateReference(reference: JsonValue | undefined, path: string, mayBeCore: boolean): FieldError[] {
  const errors = ['kind', 'name'].flatMap((field) => validateName(textAt(reference, field), `${path}.${field}`, ''))
  const apiVersion = textAt(reference, 'apiVersion')
  if (apiVersion.split('/').length > 2) {
    errors.push(invalid(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`))
  } else if (!mayBeCore && parseApiVersion(apiVersion).group === '') {
    errors.push(invalid(`${path}.apiVersion`, apiVersion, 'apiVersion must specify API group'))
  }
  return errors
}

function validateName(name: string, path: string, detail: string): FieldError[] {
  return name === '' ? [required(path, detail)] : pathSegmentName(name).map((problem) => invalid(path, name, problem))
}

/** The validation rules for one kind of metric source, e.g. `resource`, and for the field `target` of such a source. */
interface MetricSource {
  readonly field: string
  readonly validate: (source: JsonObject, path: string) => FieldError[]
  /**
   * Fields of `target`. At least one of these fields must be set. If none of these fields is set, the error names the last field in this
   * list.
   */
  readonly targets: readonly string[]
  /** The detail of the error if none of the fields in `targets` is set. */
  readonly missing: string
  /**
   * The error for a target in which more than one of the fields in `targets` is set: the field that the error names, and the detail of the
   * error. If `exclusive` is undefined, the target may have more than one of these fields.
   */
  readonly exclusive?: readonly [field: string, detail: string]
}

const perResource = {
  targets: ['averageValue', 'averageUtilization'],
  missing: 'must set either a target raw value or a target utilization',
  exclusive: ['averageValue', 'may not set both a target raw value and a target utilization'],
} as const
const hasMetricName: MetricSource['validate'] = (source, path) =>
  validateName(textAt(source, 'metric', 'name'), `${path}.metric.name`, 'must specify a metric name')

/** The sources of metrics, in the order in which kube-apiserver validates the sources. */
const sources: readonly MetricSource[] = [
  {
    field: 'object',
    validate: (source, path) => [
      ...validateReference(source.describedObject, `${path}.describedObject`, true),
      ...hasMetricName(source, path),
    ],
    targets: ['value', 'averageValue'],
    missing: 'must set either a target value or averageValue',
  },
  {
    field: 'external',
    validate: hasMetricName,
    targets: ['value', 'averageValue'],
    missing: 'must set either a target value for metric or a per-pod target',
    exclusive: ['value', 'may not set both a target value for metric and a per-pod target'],
  },
  { field: 'pods', validate: hasMetricName, targets: ['averageValue'], missing: 'must specify a positive target averageValue' },
  {
    field: 'resource',
    validate: (source, path) => (textAt(source, 'name') === '' ? [required(`${path}.name`, 'must specify a resource name')] : []),
    ...perResource,
  },
  { field: 'containerResource', validate: validateContainerSource, ...perResource },
]
const metricTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']

function validateContainerSource(source: JsonObject, path: string): FieldError[] {
  const [name, container] = [textAt(source, 'name'), textAt(source, 'container')]
  return [
    ...(name === '' ? [required(`${path}.name`, 'must specify a resource name')] : validateContainerResource(name, `${path}.name`)),
    ...(container === ''
      ? [required(`${path}.container`, 'must specify a container')]
      : shortName(container).map((detail) => invalid(`${path}.container`, container, detail))),
  ]
}

/** Validates a metric in `spec.metrics` (validateMetricSpec). */
function validateMetric(metric: JsonObject, path: string): FieldError[] {
  const type = textAt(metric, 'type')
  const unsupported = metricTypes.includes(type) ? [] : [notSupported(`${path}.type`, type, metricTypes)]
  const present = sources.filter(({ field }) => isObject(metric[field]))
  const [first] = present
  const expected = unsupported.length > 0 ? '' : type.slice(0, 1).toLowerCase() + type.slice(1)
  const errors = type === '' ? [required(`${path}.type`, 'must specify a metric source type'), ...unsupported] : unsupported
  if (first !== undefined) errors.push(...validateSource(first, metric[first.field] as JsonObject, `${path}.${first.field}`))
  if (expected !== '' && !isObject(metric[expected]))
    errors.push(required(`${path}.${expected}`, 'must populate information for the given metric source'))
  if (present.length < 2) return errors
  const others = present.filter(({ field }) => field !== expected)
  return [...errors, ...others.map(({ field }) => forbidden(`${path}.${field}`, 'must populate the given metric source only'))]
}

function validateSource(source: MetricSource, value: JsonObject, path: string): FieldError[] {
  const here = `${path}.target`
  const isSet = (field: string): boolean => (at(value, 'target', field) ?? null) !== null
  const given = source.targets.filter(isSet)
  return [
    ...source.validate(value, path),
    ...validateTarget(value.target, here),
    ...(given.length === 0 ? [required(`${here}.${source.targets.at(-1)!}`, source.missing)] : []),
    ...(given.length > 1 && source.exclusive !== undefined ? [forbidden(`${here}.${source.exclusive[0]}`, source.exclusive[1])] : []),
  ]
}

/** Validates the target of a metric (validateMetricTarget). */
function validateTarget(target: JsonValue | undefined, path: string): FieldError[] {
  const [type, utilization] = [textAt(target, 'type'), at(target, 'averageUtilization')]
  const errors = type === '' ? [required(`${path}.type`, 'must specify a metric target type')] : []
  if (!['Utilization', 'Value', 'AverageValue'].includes(type))
    errors.push(invalid(`${path}.type`, type, 'must be either Utilization, Value, or AverageValue'))
  for (const field of ['value', 'averageValue']) {
    const amount = at(target, field) ?? null
    if (amount !== null && (parseQuantity(amount) ?? 1) <= 0)
      errors.push(invalid(`${path}.${field}`, quantityText(amount), 'must be positive'))
  }
  if (typeof utilization === 'number' && utilization < 1)
    errors.push(invalid(`${path}.averageUtilization`, utilization, 'must be greater than 0'))
  return errors
}

const maxWindowSeconds = 3600
const maxPeriodSeconds = 1800
const policyTypes = ['Percent', 'Pods']

/** Validates `scaleUp` or `scaleDown` in `spec.behavior` (validateScalingRules). */
function validateScalingRules(rules: JsonObject, path: string): FieldError[] {
  const { stabilizationWindowSeconds: window, tolerance } = rules
  const policies = objects(listAt(rules, 'policies'))
  const errors: FieldError[] = []
  if (typeof window === 'number' && window < 0)
    errors.push(invalid(`${path}.stabilizationWindowSeconds`, window, 'must be greater than or equal to zero'))
  if (typeof window === 'number' && window > maxWindowSeconds)
    errors.push(invalid(`${path}.stabilizationWindowSeconds`, window, `must be less than or equal to ${maxWindowSeconds}`))
  errors.push(...validateOptionalEnum(rules, 'selectPolicy', path, ['Disabled', 'Max', 'Min']))
  if (policies.length === 0) errors.push(required(`${path}.policies`, 'must specify at least one Policy'))
  errors.push(...policies.flatMap(([policy, index]) => validateScalingPolicy(policy, `${path}.policies[${index}]`)))
  if ((parseQuantity(tolerance) ?? 0) < 0)
    errors.push(invalid(`${path}.tolerance`, quantityText(tolerance!), 'must be greater than or equal to 0'))
  return errors
}

function validateScalingPolicy(policy: JsonObject, path: string): FieldError[] {
  const [type, value, period] = [textAt(policy, 'type'), numberAt(policy, 'value'), numberAt(policy, 'periodSeconds')]
  return [
    ...(policyTypes.includes(type) ? [] : [notSupported(`${path}.type`, type, policyTypes)]),
    ...(value > 0 ? [] : [invalid(`${path}.value`, value, 'must be greater than zero')]),
    ...(period > 0 ? [] : [invalid(`${path}.periodSeconds`, period, 'must be greater than zero')]),
    ...(period > maxPeriodSeconds ? [invalid(`${path}.periodSeconds`, period, `must be less than or equal to ${maxPeriodSeconds}`)] : []),
  ]
}
