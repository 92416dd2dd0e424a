/** The built-in types ReplicationController and PodTemplate. */
import type { FieldError } from '../../../api/field-error.ts'
import { forbidden, invalid, notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { dns1123Subdomain } from '../../../api/name-syntax.ts'
import { validateLabels } from '../../../api/object-meta.ts'
import { at, numberAt, sizeAt, textAt } from '../../apimachinery/unstructured.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, formatLabels, integerColumn, nameColumn, textColumn } from '../columns.ts'
import { changeObjectField, withDefaults } from '../defaulting.ts'
import { nonNegative } from './container-validation.ts'
import { defaultPodTemplate } from './pod-defaults.ts'
import { validatePodTemplateSpec } from './pod-validation.ts'
import { formatSelector, scale, templateColumns } from './workloads.ts'

const [containers, images] = templateColumns('spec')

const replicationControllers = builtinResource({
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  shortNames: ['rc'],
  categories: ['all'],
  status: true,
  subresources: {
    scale: {
      ...scale,
      replicasPath: (apiVersion) => (apiVersion === 'v1' ? ['spec', 'replicas'] : undefined),
      read: (object) => {
        const read = scale.read!(object)
        const selector = formatSelector({ matchLabels: at(object, 'spec', 'selector') ?? {} }, '')
        return changeObjectField(read, 'status', (status) => ({ ...status, selector }))
      },
    },
  },
  columns: [
    nameColumn,
    integerColumn('Desired', (object) => numberAt(object, 'spec', 'replicas')),
    integerColumn('Current', (object) => numberAt(object, 'status', 'replicas')),
    integerColumn('Ready', (object) => numberAt(object, 'status', 'readyReplicas')),
    ageColumn,
    containers,
    images,
    textColumn('Selector', (object) => formatLabels(at(object, 'spec', 'selector')), 1),
  ],
  selectableFields: (object) => ({ 'status.replicas': String(numberAt(object, 'status', 'replicas')) }),
  strategy: {
    generation: true,
    // The name of a ReplicationController is validated by the declarative validation, which counts bytes.
    name: (value) => dns1123Subdomain(value).map((error) => error.replace('253 characters', '253 bytes')),
    // A DELETE without a propagation policy keeps the Pods (k8s.io/kubernetes/pkg/registry/core/replicationcontroller: rcStrategy).
    orphansDependents: true,
    default: defaultReplicationController,
    validate: (object, _old, subresource) => (subresource === 'status' ? [] : validateSpec(isObject(object.spec) ? object.spec : {})),
  },
})

/** Labels and selector are by default the labels of the template (k8s.io/kubernetes/pkg/apis/core/v1: SetDefaults_ReplicationController). */
function defaultReplicationController(object: JsonObject): JsonObject {
  const labels = at(object, 'spec', 'template', 'metadata', 'labels')
  const isEmpty = (value: JsonValue | undefined): boolean => !isObject(value) || Object.keys(value).length === 0
  const withSpec = changeObjectField(object, 'spec', (spec) => {
    const filled = withDefaults(changeObjectField(spec, 'template', defaultPodTemplate), { replicas: 1 })
    return isObject(labels) && isEmpty(filled.selector) ? { ...filled, selector: labels } : filled
  })
  return changeObjectField(withSpec, 'metadata', (metadata) =>
    isObject(labels) && isEmpty(metadata.labels) ? { ...metadata, labels } : metadata,
  )
}

/** Validates a spec (k8s.io/kubernetes/pkg/apis/core/validation: ValidateReplicationControllerSpec). */
function validateSpec({ minReadySeconds, selector, replicas, template }: JsonObject): FieldError[] {
  return [
    ...nonNegative(minReadySeconds, 'spec.minReadySeconds'),
    ...(sizeAt(selector) === 0 ? [required('spec.selector')] : []),
    ...nonNegative(replicas, 'spec.replicas'),
    ...(isObject(template) ? validateTemplate(template, isObject(selector) ? selector : {}) : [required('spec.template')]),
  ]
}

function validateTemplate(template: JsonObject, selector: JsonObject): FieldError[] {
  const path = 'spec.template'
  const labels = at(template, 'metadata', 'labels')
  const isSelected = Object.entries(selector).every(([key, value]) => isObject(labels) && labels[key] === value)
  const errors = isSelected ? [] : [invalid(`${path}.metadata.labels`, labels ?? null, '`selector` does not match template `labels`')]
  errors.push(...validatePodTemplate(template, path))
  const policy = textAt(template, 'spec', 'restartPolicy')
  if (policy !== 'Always') errors.push(notSupported(`${path}.spec.restartPolicy`, policy, ['Always']))
  if (typeof at(template, 'spec', 'activeDeadlineSeconds') === 'number')
    errors.push(forbidden(`${path}.spec.activeDeadlineSeconds`, 'activeDeadlineSeconds in ReplicationController is not Supported'))
  return errors
}

function validatePodTemplate(template: JsonObject, path: string): FieldError[] {
  return [
    ...validateLabels(at(template, 'metadata', 'labels'), `${path}.labels`),
    ...validatePodTemplateSpec(at(template, 'spec'), `${path}.spec`),
  ]
}

const [templateContainers, templateImages] = templateColumns()

const podTemplates = builtinResource({
  kind: 'PodTemplate',
  plural: 'podtemplates',
  columns: [
    nameColumn,
    { ...templateContainers, priority: 0 },
    { ...templateImages, priority: 0 },
    textColumn('Pod Labels', (object) => formatLabels(at(object, 'template', 'metadata', 'labels'))),
  ],
  strategy: {
    generation: true,
    returnsDeleted: true,
    default: (object) => changeObjectField(object, 'template', defaultPodTemplate),
    validate: (object) => validatePodTemplate(isObject(object.template) ? object.template : {}, 'template'),
  },
})

export const replicationResources: readonly ResourceInfo[] = [replicationControllers, podTemplates]
