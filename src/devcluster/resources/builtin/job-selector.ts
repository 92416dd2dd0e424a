/** The selector of a Job, which the API server generates unless `spec.manualSelector` is true. */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid, required } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import type { LabelSelector, Labels } from '../../../api/label-selector.ts'
import { matchesLabels, requirementsOf } from '../../../api/label-selector.ts'
import { at, sizeAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeObjectField, withDefaults } from '../defaulting.ts'
import { validateSelector } from './webhook-validation.ts'

const uidLabel = 'batch.kubernetes.io/controller-uid'

/** Returns the labels that the Pods of a Job with a generated selector have. */
function generatedLabels(job: JsonObject): Labels {
  const [uid, name] = [textAt(job, 'metadata', 'uid'), textAt(job, 'metadata', 'name')]
  return { [uidLabel]: uid, 'batch.kubernetes.io/job-name': name, 'controller-uid': uid, 'job-name': name }
}

/**
 * Adds the labels of the Job to its Pod template, and one of them to its selector. Labels that the client has set are kept. Copies the
 * labels of the Pod template to a Job without labels (k8s.io/kubernetes/pkg/registry/batch/job: generateSelector).
 */
export function withGeneratedSelector(job: JsonObject): JsonObject {
  if (at(job, 'spec', 'manualSelector') === true) return labelledAsTemplate(job)
  const generated = generatedLabels(job)
  const changed = changeObjectField(job, 'spec', (spec) => {
    const selector = isObject(spec.selector) ? spec.selector : {}
    const matchLabels = withDefaults(isObject(selector.matchLabels) ? selector.matchLabels : {}, { [uidLabel]: generated[uidLabel]! })
    const template = isObject(spec.template) ? spec.template : {}
    const metadata = isObject(template.metadata) ? template.metadata : {}
    const labels = withDefaults(isObject(metadata.labels) ? metadata.labels : {}, generated)
    return { ...spec, selector: { ...selector, matchLabels }, template: { ...template, metadata: { ...metadata, labels } } }
  })
  return labelledAsTemplate(changed)
}

function labelledAsTemplate(job: JsonObject): JsonObject {
  const labels = at(job, 'spec', 'template', 'metadata', 'labels')
  if (sizeAt(job, 'metadata', 'labels') > 0 || !isObject(labels)) return job
  return changeObjectField(job, 'metadata', (metadata) => ({ ...metadata, labels }))
}

/**
 * Returns an error for each generated label that the Pod template does not have, and one for a selector that the generated labels do not
 * match (k8s.io/kubernetes/pkg/apis/batch/validation: validateGeneratedSelector).
 */
export function generatedSelectorErrors(job: JsonObject): FieldError[] {
  const selector = at(job, 'spec', 'selector')
  if (at(job, 'spec', 'manualSelector') === true || !isObject(selector)) return []
  const generated = generatedLabels(job)
  const labels = at(job, 'spec', 'template', 'metadata', 'labels') ?? {}
  const errors = ['controller-uid', 'job-name', uidLabel, 'batch.kubernetes.io/job-name'].flatMap((key): FieldError[] => {
    const path = `spec.template.metadata.labels[${key}]`
    const value = at(labels, key)
    const rule = `must be '${generated[key]!}'`
    if (value === undefined) return [required(path, rule)]
    return value === generated[key] ? [] : [invalid(path, labels, rule)]
  })
  const isGenerated = validateSelector(selector, '').length > 0 || matches(selector, generated)
  return isGenerated ? errors : [...errors, invalid('spec.selector', selector, '`selector` not auto-generated')]
}

/** Validates the selector of a Job, which must match the labels of its Pod template. */
export function selectorErrors({ selector, template }: JsonObject): FieldError[] {
  const labels = at(template, 'metadata', 'labels')
  const mismatch = invalid('spec.template.metadata.labels', labels ?? null, '`selector` does not match template `labels`')
  if (!isObject(selector)) return [required('spec.selector'), mismatch]
  const errors = validateSelector(selector, 'spec.selector')
  if (errors.length > 0) return errors
  return matches(selector, (isObject(labels) ? labels : {}) as Labels) ? [] : [mismatch]
}

function matches(selector: JsonObject, labels: Labels): boolean {
  return matchesLabels(requirementsOf(selector as unknown as LabelSelector), labels)
}
