/** Validation of the affinity of Pods (k8s.io/kubernetes/pkg/apis/core/validation: validateAffinity). */
import type { FieldError } from '../../../../api/field-error.ts'
import { forbidden, invalid, required } from '../../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../../api/json.ts'
import { isObject } from '../../../../api/json.ts'
import { labelValue, longName, qualifiedName, shortName } from '../../../../api/name-syntax.ts'
import { at, listAt, numberAt, textAt } from '../../../apimachinery/unstructured.ts'
import { objects } from '../field-checks.ts'
import { validateSelector } from '../webhook-validation.ts'

const [requiredField, preferredField] = [
  'requiredDuringSchedulingIgnoredDuringExecution',
  'preferredDuringSchedulingIgnoredDuringExecution',
]

export function validateAffinity(affinity: JsonValue | undefined, path: string): FieldError[] {
  if (!isObject(affinity)) return []
  return [
    ...validateNodeAffinity(affinity.nodeAffinity, `${path}.nodeAffinity`),
    ...['podAffinity', 'podAntiAffinity'].flatMap((field) => [
      ...objects(listAt(affinity, field, requiredField)).flatMap(([term, index]) =>
        validatePodTerm(term, `${path}.${field}.${requiredField}[${index}]`),
      ),
      ...objects(listAt(affinity, field, preferredField)).flatMap(([term, index]) => {
        const here = `${path}.${field}.${preferredField}[${index}]`
        const podTerm = isObject(term.podAffinityTerm) ? term.podAffinityTerm : {}
        return [...validateWeight(term, here), ...validatePodTerm(podTerm, `${here}.podAffinityTerm`)]
      }),
    ]),
  ]
}

function validateWeight(term: JsonObject, path: string): FieldError[] {
  const weight = numberAt(term, 'weight')
  return weight >= 1 && weight <= 100 ? [] : [invalid(`${path}.weight`, weight, 'must be in the range 1-100')]
}

function validateNodeAffinity(affinity: JsonValue | undefined, path: string): FieldError[] {
  const selector = at(affinity, requiredField)
  const terms = `${path}.${requiredField}.nodeSelectorTerms`
  const list = listAt(selector, 'nodeSelectorTerms')
  return [
    ...(isObject(selector) && list.length === 0 ? [required(terms, 'must have at least one node selector term')] : []),
    ...objects(list).flatMap(([term, index]) => validateNodeTerm(term, `${terms}[${index}]`, true)),
    ...objects(listAt(affinity, preferredField)).flatMap(([term, index]) => {
      const here = `${path}.${preferredField}[${index}]`
      const preference = isObject(term.preference) ? term.preference : {}
      return [...validateWeight(term, here), ...validateNodeTerm(preference, `${here}.preference`, false)]
    }),
  ]
}

/**
 * Validates a node selector term (ValidateNodeSelectorTerm). `checksValues` is false for a preferred term, because kube-apiserver does not
 * validate the values in such a term.
 */
function validateNodeTerm(term: JsonObject, path: string, checksValues: boolean): FieldError[] {
  return [
    ...objects(listAt(term, 'matchExpressions')).flatMap(([expression, index]) =>
      validateExpression(expression, `${path}.matchExpressions[${index}]`, checksValues),
    ),
    ...objects(listAt(term, 'matchFields')).flatMap(([field, index]) => validateNodeField(field, `${path}.matchFields[${index}]`)),
  ]
}

/** Validates an item of `matchExpressions` in a node selector term (ValidateNodeSelectorRequirement). */
function validateExpression(expression: JsonObject, path: string, checksValues: boolean): FieldError[] {
  const [key, operator, values] = [textAt(expression, 'key'), textAt(expression, 'operator'), listAt(expression, 'values')]
  return [
    ...validateNodeOperator(operator, values.length, path),
    ...qualifiedName(key).map((detail) => invalid(`${path}.key`, key, detail)),
    ...(checksValues
      ? values.flatMap((value, index) => labelValue(String(value)).map((detail) => invalid(`${path}.values[${index}]`, value, detail)))
      : []),
  ]
}

function validateNodeOperator(operator: string, values: number, path: string): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values > 0 ? [] : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")]
    case 'Exists':
    case 'DoesNotExist':
      return values === 0 ? [] : [forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
    case 'Gt':
    case 'Lt':
      return values === 1 ? [] : [required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")]
    default:
      return [invalid(`${path}.operator`, operator, 'not a valid selector operator')]
  }
}

/** Validates an item of `matchFields` in a node selector term (ValidateNodeFieldSelectorRequirement). */
function validateNodeField(field: JsonObject, path: string): FieldError[] {
  const [key, operator, values] = [textAt(field, 'key'), textAt(field, 'operator'), listAt(field, 'values')]
  const errors: FieldError[] = []
  if (operator !== 'In' && operator !== 'NotIn') errors.push(invalid(`${path}.operator`, operator, 'not a valid selector operator'))
  else if (values.length !== 1)
    errors.push(required(`${path}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
  if (key !== 'metadata.name') return [...errors, invalid(`${path}.key`, key, 'not a valid field selector key')]
  return [
    ...errors,
    ...values.flatMap((value, index) => longName(String(value)).map((detail) => invalid(`${path}.values[${index}]`, value, detail))),
  ]
}

/** Validates a term of a Pod affinity or anti-affinity (validatePodAffinityTerm). */
function validatePodTerm(term: JsonObject, path: string): FieldError[] {
  const key = textAt(term, 'topologyKey')
  return [
    ...['labelSelector', 'namespaceSelector'].flatMap((field) => {
      const selector = term[field]
      return isObject(selector) ? validateSelector(selector, `${path}.${field}`) : []
    }),
    ...listAt(term, 'namespaces').flatMap((name) => shortName(String(name)).map((detail) => invalid(`${path}.namespace`, name, detail))),
    ...validateMatchKeys(term, path),
    ...(key === '' ? [required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...qualifiedName(key).map((detail) => invalid(`${path}.topologyKey`, key, detail)),
  ]
}

/** Validates `matchLabelKeys` and `mismatchLabelKeys` (ValidateMatchLabelKeysAndMismatchLabelKeys). */
export function validateMatchKeys(term: JsonObject, path: string): FieldError[] {
  const [keys, others] = [listAt(term, 'matchLabelKeys'), listAt(term, 'mismatchLabelKeys')]
  if (keys.length + others.length === 0) return []
  const selector = term.labelSelector
  return [
    ...validateLabelKeys(keys, selector, `${path}.matchLabelKeys`),
    ...validateLabelKeys(others, selector, `${path}.mismatchLabelKeys`),
    ...repeatedKeys(keys, selector, path),
    ...keys.flatMap((key, index) =>
      others.includes(key) ? [invalid(`${path}.matchLabelKeys[${index}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys')] : [],
    ),
  ]
}

function validateLabelKeys(keys: readonly JsonValue[], selector: JsonValue | undefined, path: string): FieldError[] {
  if (keys.length === 0) return []
  if (!isObject(selector)) return [forbidden(path, 'must not be specified when labelSelector is not set')]
  return keys.flatMap((key, index) => qualifiedName(String(key)).map((detail) => invalid(`${path}[${index}]`, key, detail)))
}

/**
 * Returns an error for each item of `matchExpressions` whose key meets both of these conditions:
 *
 * - The key is in `matchLabelKeys`.
 * - The key is also in `matchLabels`, or an earlier item of `matchExpressions` has the same key.
 *
 * If `matchLabels` does not contain the key, the first item with the key is permitted, because kube-apiserver adds one item for each key in
 * `matchLabelKeys` before the validation. As in kube-apiserver's error, the path does not contain the field name `matchLabelKeys`.
 */
function repeatedKeys(keys: readonly JsonValue[], selector: JsonValue | undefined, path: string): FieldError[] {
  const labels = at(selector, 'matchLabels')
  const known = new Set(Object.keys(isObject(labels) ? labels : {}))
  return listAt(selector, 'matchExpressions').flatMap((expression) => {
    const key = textAt(expression, 'key')
    const index = keys.lastIndexOf(key)
    const errors =
      index >= 0 && known.has(key) ? [invalid(`${path}[${index}]`, key, 'exists in both matchLabelKeys and labelSelector')] : []
    known.add(key)
    return errors
  })
}
