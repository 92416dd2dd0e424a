/** The built-in type HorizontalPodAutoscaler. It is stored in `autoscaling/v2`, and served in `autoscaling/v2` and `autoscaling/v1`. */
import type { FieldError } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { at, listAt, numberAt, textAt } from '../../apimachinery/unstructured.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import type { BuiltinDefinition } from '../builtin-resource.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, integerColumn, nameColumn, numberAsText, textColumn } from '../columns.ts'
import { changeObjectField, withDefaults } from '../defaulting.ts'
import { autoscalerToV1, autoscalerToV2 } from './autoscaler-conversion.ts'
import { validateAutoscaler, validateAutoscalerStatus } from './autoscaler-validation.ts'

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
    // An empty list of policies is invalid. A missing list of policies gets a default.
    distinguishesEmptyLists: true,
    default: withAutoscalerDefaults,
    validate: (object, _old, subresource) => validateWrite(object, subresource),
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
    validate: (object, _old, subresource) => validateWrite(toNew(object), subresource),
  },
})

function validateWrite(object: JsonObject, subresource: string | undefined): FieldError[] {
  return subresource === 'status' ? validateAutoscalerStatus(object.status) : validateAutoscaler(object.spec)
}

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

export const autoscalerResources: readonly ResourceInfo[] = [autoscalers, oldAutoscalers]
