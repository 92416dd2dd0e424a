/** The built-in types ReplicationController and PodTemplate. */
import type { FieldError } from '../../../api/field-error.ts'
import { forbidden, invalid, notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject, jsonEqual } from '../../../api/json.ts'
import { at, numberAt, sizeAt, textAt } from '../../apimachinery/unstructured.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { builtinResource } from '../builtin-resource.ts'
import { formatLabels, nameColumn, textColumn } from '../columns.ts'
import { changeObjectField, withDefaults } from '../defaulting.ts'
import { nonNegative } from './field-checks.ts'
import { defaultPodTemplate } from './pod-defaults.ts'
import { validatePodTemplate } from './pod-validation.ts'
import { fieldsOfContainers, replicaColumns, scaleOf } from './workloads.ts'

/** Returns the labels that the selector of a ReplicationController requires. */
function selectorOf(spec: JsonValue | undefined): JsonObject {
  const selector = at(spec, 'selector')
  return isObject(selector) ? selector : {}
}

const replicationControllers = builtinResource({
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  shortNames: ['rc'],
  categories: ['all'],
  status: true,
  subresources: { scale: scaleOf(new Set(['v1']), (spec) => (sizeAt(spec, 'selector') === 0 ? '' : formatLabels(selectorOf(spec)))) },
  selectableFields: (object) => ({ 'status.replicas': String(numberAt(object, 'status', 'replicas')) }),
  columns: [
    ...replicaColumns,
    textColumn('Containers', fieldsOfContainers('name', ['spec']), 1),
    textColumn('Images', fieldsOfContainers('image', ['spec']), 1),
    textColumn('Selector', (object) => formatLabels(at(object, 'spec', 'selector')), 1),
  ],
  strategy: {
    generation: true,
    // A deletion without a `propagationPolicy` orphans the Pods of the ReplicationController, as in kube-apiserver
    // (k8s.io/kubernetes/pkg/registry/core/replicationcontroller: DefaultGarbageCollectionPolicy).
    orphansDependents: true,
    default: defaultReplicationController,
    validate: (object, _old, subresource) => (subresource === 'status' ? [] : validateReplicationController(object)),
  },
})

/** Applies the defaults (k8s.io/kubernetes/pkg/apis/core/v1: SetDefaults_ReplicationController). */
function defaultReplicationController(object: JsonObject): JsonObject {
  const labels = at(object, 'spec', 'template', 'metadata', 'labels')
  const filled = changeObjectField(object, 'spec', (spec) => {
    const sized = withDefaults(changeObjectField(spec, 'template', defaultPodTemplate), { replicas: 1 })
    return isObject(labels) && sizeAt(spec, 'selector') === 0 ? { ...sized, selector: labels } : sized
  })
  if (!isObject(labels) || sizeAt(object, 'metadata', 'labels') > 0) return filled
  return changeObjectField(filled, 'metadata', (metadata) => ({ ...metadata, labels }))
}

/** Validates the spec (k8s.io/kubernetes/pkg/apis/core/validation: ValidateReplicationControllerSpec). */
function validateReplicationController(object: JsonObject): FieldError[] {
  const spec = isObject(object.spec) ? object.spec : {}
  return [
    ...nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...(sizeAt(spec, 'selector') === 0 ? [required('spec.selector')] : []),
    ...nonNegative(spec.replicas, 'spec.replicas'),
    ...validateOwnTemplate(spec),
  ]
}

function validateOwnTemplate({ selector, template }: JsonObject): FieldError[] {
  if (!isObject(template)) return [required('spec.template')]
  const labels = at(template, 'metadata', 'labels')
  const isMatch = Object.entries(isObject(selector) ? selector : {}).every(([key, value]) => at(labels, key) === value)
  const errors = isMatch ? [] : [invalid('spec.template.metadata.labels', labels ?? null, '`selector` does not match template `labels`')]
  errors.push(...validatePodTemplate(template, 'spec.template'))
  const policy = textAt(template, 'spec', 'restartPolicy')
  if (policy !== 'Always') errors.push(notSupported('spec.template.spec.restartPolicy', policy, ['Always']))
  if (typeof at(template, 'spec', 'activeDeadlineSeconds') === 'number') {
    const detail = 'activeDeadlineSeconds in ReplicationController is not Supported'
    errors.push(forbidden('spec.template.spec.activeDeadlineSeconds', detail))
  }
  return errors
}

const podTemplates = builtinResource({
  kind: 'PodTemplate',
  plural: 'podtemplates',
  columns: [
    nameColumn,
    textColumn('Containers', fieldsOfContainers('name', [])),
    textColumn('Images', fieldsOfContainers('image', [])),
    textColumn('Pod Labels', (object) => formatLabels(at(object, 'template', 'metadata', 'labels'))),
  ],
  strategy: {
    returnsDeleted: true,
    default: (object) => changeObjectField(object, 'template', defaultPodTemplate),
    prepareForCreate: (object) => withGeneration(object, 1),
    // Only a change of the template increments the generation (k8s.io/kubernetes/pkg/registry/core/podtemplate: PrepareForUpdate).
    prepareForUpdate: (object, old) => {
      const before = numberAt(old, 'metadata', 'generation')
      return withGeneration(object, jsonEqual(object.template ?? null, old.template ?? null) ? before : before + 1)
    },
    validate: ({ template }) => validatePodTemplate(template, 'template'),
  },
})

function withGeneration(object: JsonObject, generation: number): JsonObject {
  return changeObjectField(object, 'metadata', (metadata) => ({ ...metadata, generation }))
}

export const replicationResources: readonly ResourceInfo[] = [replicationControllers, podTemplates]
