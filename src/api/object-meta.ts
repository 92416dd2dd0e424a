/** Validates `metadata` with the rules that the API server has for all objects (apimachinery `pkg/api/validation`). */
import { labelValue, longName, qualifiedName, shortName } from './name-syntax.ts'
import { maxListedErrors } from './error-list.ts'
import type { FieldError } from './field-error.ts'
import { forbidden, invalid, required, tooLong } from './field-error.ts'
import { isObject } from './json.ts'

/** Maximum size of the annotations of one object: the sum of all keys and values, in bytes. */
export const maxAnnotationBytes = 256 * 1024

export interface ObjectMetaRules {
  readonly namespaced: boolean
  /** Validates the names of objects of this type. Default: a name must be a DNS subdomain. */
  readonly name?: (value: string) => string[]
  /**
   * True to reject a finalizer that has no domain and is not one of Kubernetes' own finalizers. The API server rejects such a finalizer in
   * objects of built-in types.
   */
  readonly qualifiedFinalizers?: boolean
}

/**
 * Validates labels: keys must be qualified names, and values must be valid label values. When there are more than `maxListedErrors` errors,
 * the validation stops, because an `ErrorList` does not list more.
 */
export function validateLabels(labels: unknown, path: string): FieldError[] {
  if (!isObject(labels)) return []
  const errors: FieldError[] = []
  for (const key in labels) {
    if (errors.length > maxListedErrors) break
    const value = labels[key]
    for (const detail of qualifiedName(key)) errors.push(invalid(path, key, detail))
    if (typeof value === 'string') for (const detail of labelValue(value)) errors.push(invalid(path, value, detail))
  }
  return errors
}

/**
 * Validates annotations. Keys must be qualified names, except that the prefix may contain upper-case letters. The total size must be at
 * most 256 KiB. When more than `maxListedErrors` errors are found, only the total size is still validated, because an `ErrorList` does not
 * list more errors.
 */
export function validateAnnotations(annotations: unknown, path: string): FieldError[] {
  if (!isObject(annotations)) return []
  let bytes = 0
  const errors: FieldError[] = []
  for (const key in annotations) {
    const value = annotations[key]
    if (errors.length <= maxListedErrors) for (const detail of qualifiedName(key.toLowerCase())) errors.push(invalid(path, key, detail))
    bytes += Buffer.byteLength(key) + (typeof value === 'string' ? Buffer.byteLength(value) : 0)
  }
  if (bytes > maxAnnotationBytes) errors.push(tooLong(path, maxAnnotationBytes))
  return errors
}

/** Returns all errors in the metadata of an object that is to be created. */
export function validateObjectMeta(metadata: unknown, rules: ObjectMetaRules, path = 'metadata'): FieldError[] {
  if (!isObject(metadata)) return [required(path)]
  const { name, generateName, namespace } = metadata
  const checkName = rules.name ?? longName
  const errors: FieldError[] = []
  if (typeof generateName === 'string' && generateName !== '') {
    // Unlike a name, `generateName` may end with a dash, because a suffix is appended. As in kube-apiserver, the dash and the character
    // before it are replaced by `a` before the validation.
    const masked = generateName.length > 1 && generateName.endsWith('-') ? `${generateName.slice(0, -2)}a` : generateName
    errors.push(...checkName(masked).map((detail) => invalid(`${path}.generateName`, generateName, detail)))
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
    else errors.push(...shortName(namespace).map((detail) => invalid(`${path}.namespace`, namespace, detail)))
  } else if (typeof namespace === 'string' && namespace !== '') {
    errors.push(forbidden(`${path}.namespace`, 'not allowed on this type'))
  }
  const { generation } = metadata
  if ((typeof generation === 'number' || typeof generation === 'bigint') && generation < 0)
    errors.push(invalid(`${path}.generation`, generation, 'must be greater than or equal to 0'))
  errors.push(...validateLabels(metadata.labels, `${path}.labels`))
  errors.push(...validateAnnotations(metadata.annotations, `${path}.annotations`))
  errors.push(...validateOwnerReferences(metadata.ownerReferences, `${path}.ownerReferences`))
  errors.push(...validateFinalizers(metadata.finalizers, `${path}.finalizers`))
  if (rules.qualifiedFinalizers === true)
    errors.push(...unqualifiedFinalizers(metadata.finalizers, (index) => `${path}.finalizers[${index}]`))
  return errors
}

function validateOwnerReferences(references: unknown, path: string): FieldError[] {
  if (!Array.isArray(references)) return []
  const errors: FieldError[] = []
  let controller: string | undefined
  for (const reference of references as unknown[]) {
    if (errors.length > maxListedErrors) break
    if (!isObject(reference)) continue
    const text = (field: string): string => (typeof reference[field] === 'string' ? reference[field] : '')
    const [apiVersion, kind, name] = [text('apiVersion'), text('kind'), text('name')]
    // As in the errors of kube-apiserver, the path of the field has no index: `metadata.ownerReferences.name`.
    for (const field of ['apiVersion', 'kind', 'name', 'uid']) {
      if (text(field) === '')
        errors.push(invalid(`${path}.${field}`, '', field === 'apiVersion' ? 'version must not be empty' : 'must not be empty'))
    }
    if (apiVersion === 'v1' && kind === 'Event') {
      const detail = '/v1, Kind=Event is disallowed from being an owner'
      errors.push({ path, reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(inOrder(reference))}: ${detail}` })
    }
    if (reference.controller !== true) continue
    if (controller === undefined) controller = `${kind}/${name}`
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${kind}/${name}`
      errors.push({ path, reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(references.map(inOrder))}: ${detail}` })
    }
  }
  return errors
}

const standardFinalizers: ReadonlySet<unknown> = new Set(['kubernetes', 'orphan', 'foregroundDeletion'])

/** Returns an error for each finalizer that has no domain and is not one of Kubernetes' own finalizers. */
export function unqualifiedFinalizers(finalizers: unknown, pathOf: (index: number) => string): FieldError[] {
  if (!Array.isArray(finalizers)) return []
  return finalizers.flatMap((finalizer: unknown, index) =>
    typeof finalizer !== 'string' || finalizer.includes('/') || standardFinalizers.has(finalizer)
      ? []
      : [invalid(pathOf(index), finalizer, 'name is neither a standard finalizer name nor is it fully qualified')],
  )
}

/** Returns the reference with its fields in the order of the Go struct `OwnerReference`. */
function inOrder(reference: unknown): unknown {
  const { apiVersion = '', kind = '', name = '', uid = '', controller, blockOwnerDeletion } = isObject(reference) ? reference : {}
  return { apiVersion, kind, name, uid, controller, blockOwnerDeletion }
}

function validateFinalizers(finalizers: unknown, path: string): FieldError[] {
  if (!Array.isArray(finalizers)) return []
  const errors: FieldError[] = []
  for (const finalizer of finalizers as unknown[]) {
    if (errors.length > maxListedErrors) break
    if (typeof finalizer === 'string') for (const detail of qualifiedName(finalizer)) errors.push(invalid(path, finalizer, detail))
  }
  if (finalizers.includes('foregroundDeletion') && finalizers.includes('orphan')) {
    errors.push(invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'))
  }
  return errors
}
