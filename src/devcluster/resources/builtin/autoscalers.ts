/** The built-in type HorizontalPodAutoscaler. It is stored in `autoscaling/v2`, and served in `autoscaling/v2` and `autoscaling/v1`. */
import type { FieldError } from '../../../api/field-error.ts'
import { forbidden, invalid, required } from '../../../api/field-error.ts'
import { parseApiVersion } from '../../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { pathSegmentName } from '../../../api/name-syntax.ts'
import { at, listAt, numberAt, textAt } from '../../apimachinery/unstructured.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import type { BuiltinDefinition } from '../builtin-resource.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, integerColumn, nameColumn, numberAsText, textColumn } from '../columns.ts'
import { changeObjectField, withDefaults } from '../defaulting.ts'
import { autoscalerToV1, autoscalerToV2 } from './autoscaler-conversion.ts'
import { validateOptionalEnum } from './container-validation.ts'

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

/** The default metric for a HorizontalPodAutoscaler without metrics. */
const cpuMetric = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }
const every15s = (type: string, value: number): JsonObject => ({ type, value, periodSeconds: 15 })

const definition: BuiltinDefinition = {
  group: 'autoscaling',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  shortNames: ['hpa'],
  categories: ['all'],
  status: true,
}

const columns = [
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
]

const autoscalers = builtinResource({
  ...definition,
  version: 'v2',
  columns,
  strategy: {
    default: withAutoscalerDefaults,
    validate: (object, _old, subresource) => (subresource === 'status' ? [] : validateAutoscaler(object.spec)),
  },
})

/** HorizontalPodAutoscalers in `autoscaling/v1`. They are converted to `autoscaling/v2` for defaults, validation and table columns. */
const oldAutoscalers = builtinResource({
  ...definition,
  columns: columns.map((column) => ({ ...column, cell: (object, now) => column.cell(toNew(object), now) })),
  conversion: { fromStorage: autoscalerToV1, toStorage: toNew },
  strategy: {
    // The conversion to `autoscaling/v2` and back adds the defaults of `autoscaling/v2`, and drops annotations that cannot be decoded.
    default: (object) => autoscalerToV1(toNew(object)),
    validate: (object, _old, subresource) => (subresource === 'status' ? [] : validateAutoscaler(toNew(object).spec)),
  },
})

function toNew(object: JsonObject): JsonObject {
  return withAutoscalerDefaults(autoscalerToV2(object))
}

/** Applies the defaults of `autoscaling/v2` (k8s.io/kubernetes/pkg/apis/autoscaling/v2: SetDefaults_HorizontalPodAutoscaler). */
function withAutoscalerDefaults(object: JsonObject): JsonObject {
  return changeObjectField(object, 'spec', (spec) => {
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
  })
}

function validateAutoscaler(spec: JsonValue | undefined): FieldError[] {
  const [min, max] = [numberAt(spec, 'minReplicas'), numberAt(spec, 'maxReplicas')]
  const errors: FieldError[] = []
  if (min < 1) errors.push(invalid('spec.minReplicas', min, 'must be greater than or equal to 1'))
  if (max === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'))
  if (max < 0) errors.push(invalid('spec.maxReplicas', max, 'must be greater than or equal to 1'))
  if (max < min) errors.push(invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'))
  errors.push(...validateTarget(at(spec, 'scaleTargetRef')))
  const scalesToZero = listAt(spec, 'metrics').some((metric) => ['Object', 'External'].includes(textAt(metric, 'type')))
  if (min === 0 && !scalesToZero)
    errors.push(forbidden('spec.metrics', 'must specify at least one Object or External metric to support scaling to zero replicas'))
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

export const autoscalerResources: readonly ResourceInfo[] = [autoscalers, oldAutoscalers]
