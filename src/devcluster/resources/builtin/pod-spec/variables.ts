/** Validation of the variables of containers (k8s.io/kubernetes/pkg/apis/core/validation: ValidateEnv, ValidateEnvFrom). */
import type { FieldError } from '../../../../api/field-error.ts'
import { invalid, required } from '../../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../../api/json.ts'
import { isObject } from '../../../../api/json.ts'
import { longName } from '../../../../api/name-syntax.ts'
import { textAt } from '../../../apimachinery/unstructured.ts'
import { objects } from '../field-checks.ts'
import {
  validateFieldRef,
  validateFileKeyRef,
  validateKeyRef,
  validateResourceFieldRef,
  variableFields,
  variableNameErrors,
} from './references.ts'

/** The validation functions of the possible sources of a variable's value. kube-apiserver validates the sources in the same order. */
const sources: Readonly<Record<string, (source: JsonObject, path: string) => FieldError[]>> = {
  fieldRef: (source, path) => validateFieldRef(source, path, variableFields),
  resourceFieldRef: (source, path) => validateResourceFieldRef(source, path, false),
  configMapKeyRef: validateKeyRef,
  secretKeyRef: validateKeyRef,
  fileKeyRef: validateFileKeyRef,
}
const sourceNames = Object.keys(sources)

export function validateVariables(variables: readonly JsonValue[], path: string): FieldError[] {
  return objects(variables).flatMap(([variable, index]) => validateVariable(variable, `${path}[${index}]`))
}

function validateVariable(variable: JsonObject, path: string): FieldError[] {
  const name = textAt(variable, 'name')
  const errors = name === '' ? [required(`${path}.name`)] : variableNameErrors(name).map((detail) => invalid(`${path}.name`, name, detail))
  const { valueFrom } = variable
  if (!isObject(valueFrom)) return errors
  const here = `${path}.valueFrom`
  const given = sourceNames.filter((source) => isObject(valueFrom[source]))
  for (const source of given) errors.push(...sources[source]!(valueFrom[source] as JsonObject, `${here}.${source}`))
  if (given.length === 0) {
    errors.push(invalid(here, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'))
  } else if (textAt(variable, 'value') !== '') {
    errors.push(invalid(here, '', 'may not be specified when `value` is not empty'))
  } else if (given.length > 1) {
    errors.push(invalid(here, '', 'may not have more than one field specified at a time'))
  }
  return errors
}

/**
 * Validates `envFrom`. Each entry must have exactly one source: `configMapRef` or `secretRef`. If an entry has no source or both sources,
 * the error has the path of the whole list, without the index of the entry. kube-apiserver reports the same path.
 */
export function validateVariableSources(list: readonly JsonValue[], path: string): FieldError[] {
  return objects(list).flatMap(([item, index]) => {
    const here = `${path}[${index}]`
    const prefix = textAt(item, 'prefix')
    const errors = variableNameErrors(prefix).map((detail) => invalid(`${here}.prefix`, prefix, detail))
    const given = ['configMapRef', 'secretRef'].filter((source) => isObject(item[source]))
    for (const source of given) {
      const name = textAt(item, source, 'name')
      // kube-apiserver validates this name like the beginning of a generated name, and therefore accepts a dash at the end.
      const details = longName(name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name)
      if (name === '') errors.push(required(`${here}.${source}.name`))
      else errors.push(...details.map((detail) => invalid(`${here}.${source}.name`, name, detail)))
    }
    if (given.length === 0) errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'))
    else if (given.length > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'))
    return errors
  })
}
