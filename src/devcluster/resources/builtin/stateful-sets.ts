/** The built-in type StatefulSet. */
import type { FieldError } from '../../../api/field-error.ts'
import { forbidden, invalid } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { shortName } from '../../../api/name-syntax.ts'
import { at, listAt, textAt } from '../../apimachinery/unstructured.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, nameColumn, textColumn } from '../columns.ts'
import { changeItems, changeObjectField, equalExcept, withDefaults } from '../defaulting.ts'
import { invalidStruct, nonNegative, validateOptionalEnum } from './field-checks.ts'
import { defaultClaim, validateClaimSpec } from './volumes.ts'
import { readyOf, rolling, scale, strategyFields, templateColumns, workload } from './workloads.ts'

export const statefulSets: ResourceInfo = builtinResource({
  group: 'apps',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  shortNames: ['sts'],
  categories: ['all'],
  status: true,
  subresources: { scale },
  columns: [nameColumn, textColumn('Ready', readyOf), ageColumn, ...templateColumns('spec').slice(0, 2)],
  strategy: workload({
    name: 'statefulset',
    defaults: (spec) => {
      const filled = withDefaults(spec, {
        replicas: 1,
        podManagementPolicy: 'OrderedReady',
        updateStrategy: {},
        revisionHistoryLimit: 10,
        persistentVolumeClaimRetentionPolicy: {},
      })
      // If an update strategy has `type: RollingUpdate` and no `rollingUpdate`, it gets no default partition. If an update strategy has no
      // `type`, it gets both defaults: `type: RollingUpdate` and the partition.
      const updated = changeObjectField(filled, 'updateStrategy', (strategy) =>
        textAt(strategy, 'type') !== '' && !isObject(strategy.rollingUpdate) ? strategy : rolling(strategy, { partition: 0 }),
      )
      const retained = changeObjectField(updated, 'persistentVolumeClaimRetentionPolicy', (policy) =>
        withDefaults(policy, { whenDeleted: 'Retain', whenScaled: 'Retain' }),
      )
      return changeItems(retained, 'volumeClaimTemplates', defaultClaimTemplate)
    },
    prepare: withoutMaxUnavailable,
    podSpec: podSpecOf,
    validate: (spec, old, { numbers, template }) => [
      ...validateStrategies(spec, old),
      ...numbers('replicas', 'minReadySeconds'),
      ...validateIdentity(spec, old),
      ...template(),
      ...(old === undefined || equalExcept(spec, old, ...changeableOfStatefulSets) ? [] : [forbidden('spec', unchangeableOfStatefulSets)]),
    ],
  }),
})

/**
 * Returns the Pod spec to validate: the spec of the Pod template. If the StatefulSet has claim templates, the function changes the fields
 * that the controller sets in each Pod (k8s.io/kubernetes/pkg/apis/apps/validation: ValidateStatefulSetSpec):
 *
 * - `volumes` gets a volume for each claim template.
 * - `hostname` and `subdomain` become empty.
 */
function podSpecOf({ template, volumeClaimTemplates }: JsonObject): JsonValue | undefined {
  const podSpec = at(template, 'spec')
  if (!isObject(podSpec) || !Array.isArray(volumeClaimTemplates)) return podSpec
  // If several claim templates have the same name, the Pod has only one volume for these templates.
  const names = [...new Set(volumeClaimTemplates.map((claim) => textAt(claim, 'metadata', 'name')))]
  const claimed = names.map((name): JsonValue => ({ name, persistentVolumeClaim: { claimName: name } }))
  const others = listAt(podSpec, 'volumes').filter((volume) => !names.includes(textAt(volume, 'name')))
  return { ...podSpec, volumes: [...claimed, ...others], hostname: '', subdomain: '' }
}

function defaultClaimTemplate(template: JsonObject): JsonObject {
  const claim = withDefaults({ ...template, kind: 'PersistentVolumeClaim', apiVersion: 'v1' }, { spec: {}, status: {} })
  return changeObjectField(defaultClaim(claim), 'status', (status) => withDefaults(status, { phase: 'Pending' }))
}

/** Removes `maxUnavailable`. kube-apiserver removes this field if the feature gate MaxUnavailableStatefulSet is disabled. */
function withoutMaxUnavailable(spec: JsonObject): JsonObject {
  return changeObjectField(spec, 'updateStrategy', (strategy) =>
    changeObjectField(strategy, 'rollingUpdate', ({ maxUnavailable: _disabled, ...rest }) => rest),
  )
}

/** Validates the policies and the claim templates, which are the first fields that kube-apiserver validates. */
function validateStrategies(spec: JsonObject, old: JsonObject | undefined): FieldError[] {
  const errors: FieldError[] = []
  const { podManagementPolicy: management, updateStrategy, persistentVolumeClaimRetentionPolicy: retention } = spec
  if (management !== 'OrderedReady' && management !== 'Parallel')
    errors.push(invalid('spec.podManagementPolicy', management, "must be 'OrderedReady' or 'Parallel'"))
  if (!['RollingUpdate', 'OnDelete'].includes(textAt(updateStrategy, 'type')))
    errors.push(invalidStruct('spec.updateStrategy', updateStrategy, strategyFields, "must be 'RollingUpdate' or 'OnDelete'"))
  const rollingUpdate = at(updateStrategy, 'rollingUpdate')
  if (textAt(updateStrategy, 'type') === 'OnDelete' && isObject(rollingUpdate)) {
    const fields = ['partition', 'maxUnavailable']
    errors.push(
      invalidStruct('spec.updateStrategy.rollingUpdate', rollingUpdate, fields, "only allowed for updateStrategy 'RollingUpdate'"),
    )
  } else errors.push(...nonNegative(at(rollingUpdate, 'partition'), 'spec.updateStrategy.rollingUpdate.partition'))
  for (const when of ['whenDeleted', 'whenScaled'])
    if (isObject(retention))
      errors.push(...validateOptionalEnum(retention, when, 'spec.persistentVolumeClaimRetentionPolicy', ['Retain', 'Delete']))
  // `volumeClaimTemplates` is immutable, so the field is validated only at creation.
  if (old === undefined)
    for (const [index, template] of listAt(spec, 'volumeClaimTemplates').entries())
      errors.push(...validateClaimSpec(at(template, 'spec'), `spec.volumeClaimTemplates[${index}].spec`))
  return errors
}

/**
 * Validates the fields that determine the names and the DNS names of the Pods. `serviceName` is immutable, and is validated only at
 * creation.
 */
function validateIdentity(spec: JsonObject, old: JsonObject | undefined): FieldError[] {
  const name = old === undefined ? textAt(spec, 'serviceName') : ''
  return [
    ...nonNegative(at(spec, 'ordinals', 'start'), 'spec.ordinals.start'),
    ...(name === '' ? [] : shortName(name).map((detail) => invalid('spec.serviceName', name, detail))),
  ]
}

const changeableOfStatefulSets = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]
const unchangeableOfStatefulSets =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', " +
  "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
