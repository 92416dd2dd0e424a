/** The selector of a Job. The API server generates the selector if `spec.manualSelector` is not `true`. */
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

/** Returns the labels that the API server generates for the Pods of a Job. */
function generatedLabels(job: JsonObject): Labels {
  const [uid, name] = [textAt(job, 'metadata', 'uid'), textAt(job, 'metadata', 'name')]
  return { [uidLabel]: uid, 'batch.kubernetes.io/job-name': name, 'controller-uid': uid, 'job-name': name }
}

/**
 * Completes the labels and the selector of a Job (k8s.io/kubernetes/pkg/registry/batch/job: generateSelector):
 *
 * - Unless `spec.manualSelector` is true, adds the generated labels to the Pod template, and the generated label
 *   `batch.kubernetes.io/controller-uid` to the selector. Labels that the client has set are kept.
 * - If the Job itself has no labels, copies the labels of the Pod template to the Job.
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
 * Returns an error for each generated label that is missing in the Pod template or has a wrong value. Returns another error if the selector
 * does not match the generated labels (k8s.io/kubernetes/pkg/apis/batch/validation: validateGeneratedSelector).
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

/** Validates the selector of a Job. The selector must match the labels of the Pod template. */
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
