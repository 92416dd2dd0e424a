/** Validation of `metadata` as the API server does it for every object (apimachinery `pkg/api/validation`). */
import { dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from './names.ts'
import type { FieldError } from './field-error.ts'
import { forbidden, invalid, required, tooLong } from './field-error.ts'
import { isObject } from './json.ts'

/** All annotations of one object together, keys and values, in bytes. */
export const maxAnnotationBytes = 256 * 1024

export interface ObjectMetaRules {
  readonly namespaced: boolean
  /** How names of this type are checked; the default is a DNS subdomain. */
  readonly name?: (value: string) => string[]
}

/** Labels: keys are qualified names, values at most 63 characters. */
export function validateLabels(labels: unknown, path: string): FieldError[] {
  if (!isObject(labels)) return []
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedName(key).map((detail) => invalid(path, key, detail)),
    ...(typeof value === 'string' ? labelValue(value).map((detail) => invalid(path, value, detail)) : []),
  ])
}

/** Annotations: keys are qualified names (in any case), all together at most 256 KiB. */
export function validateAnnotations(annotations: unknown, path: string): FieldError[] {
  if (!isObject(annotations)) return []
  let bytes = 0
  const errors: FieldError[] = []
  for (const [key, value] of Object.entries(annotations)) {
    errors.push(...qualifiedName(key.toLowerCase()).map((detail) => invalid(path, key, detail)))
    bytes += Buffer.byteLength(key) + (typeof value === 'string' ? Buffer.byteLength(value) : 0)
  }
  if (bytes > maxAnnotationBytes) errors.push(tooLong(path, maxAnnotationBytes))
  return errors
}

/** Everything that is wrong with the metadata of an object that is to be created. */
export function validateObjectMeta(metadata: unknown, rules: ObjectMetaRules, path = 'metadata'): FieldError[] {
  if (!isObject(metadata)) return [required(path)]
  const { name, generateName, namespace } = metadata
  const checkName = rules.name ?? dns1123Subdomain
  const errors: FieldError[] = []
  if (typeof generateName === 'string' && generateName !== '') {
    // A prefix may end in what a name may not end in, because more follows.
    errors.push(...checkName(generateName.replace(/-$/, 'a')).map((detail) => invalid(`${path}.generateName`, generateName, detail)))
  }
  if (typeof name !== 'string' || name === '') {
    if (typeof generateName !== 'string' || generateName === '') {
      errors.push(required(`${path}.name`, 'name or generateName is required'))
    }
  } else {
    errors.push(...checkName(name).map((detail) => invalid(`${path}.name`, name, detail)))
  }
  if (rules.namespaced) {
    if (typeof namespace !== 'string' || namespace === '') errors.push(required(`${path}.namespace`))
    else errors.push(...dns1123Label(namespace).map((detail) => invalid(`${path}.namespace`, namespace, detail)))
  } else if (typeof namespace === 'string' && namespace !== '') {
    errors.push(forbidden(`${path}.namespace`, 'not allowed on this type'))
  }
  errors.push(...validateLabels(metadata.labels, `${path}.labels`))
  errors.push(...validateAnnotations(metadata.annotations, `${path}.annotations`))
  errors.push(...validateOwnerReferences(metadata.ownerReferences, `${path}.ownerReferences`))
  errors.push(...validateFinalizers(metadata.finalizers, `${path}.finalizers`))
  return errors
}

function validateOwnerReferences(references: unknown, path: string): FieldError[] {
  if (!Array.isArray(references)) return []
  const errors: FieldError[] = []
  let controllers = 0
  references.forEach((reference: unknown, index) => {
    if (!isObject(reference)) return
    for (const field of ['apiVersion', 'kind', 'name', 'uid'] as const) {
      if (reference[field] === undefined || reference[field] === '') {
        errors.push(invalid(`${path}[${index}].${field}`, '', field === 'apiVersion' ? 'version must not be empty' : 'must not be empty'))
      }
    }
    if (reference.controller === true) controllers += 1
  })
  if (controllers > 1) {
    errors.push(invalid(path, references, 'Only one reference can have Controller set to true'))
  }
  return errors
}

function validateFinalizers(finalizers: unknown, path: string): FieldError[] {
  if (!Array.isArray(finalizers)) return []
  return finalizers.flatMap((finalizer) =>
    typeof finalizer === 'string' ? qualifiedName(finalizer).map((detail) => invalid(path, finalizer, detail)) : [],
  )
}
