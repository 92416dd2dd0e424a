/** Validation of references to fields, resources and keys. Environment variables and files get their values from these references. */
import type { FieldError } from '../../../../api/field-error.ts'
import { invalid, notSupported, required } from '../../../../api/field-error.ts'
import type { JsonObject } from '../../../../api/json.ts'
import { longName, qualifiedName, shortName } from '../../../../api/name-syntax.ts'
import { textAt } from '../../../apimachinery/unstructured.ts'
import { quantityText } from '../quantity-text.ts'
import { pathWithoutBacksteps } from './file-paths.ts'

/** The fields that an environment variable can refer to. In addition, an environment variable can refer to a single label or annotation. */
export const variableFields: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
/**
 * The fields to which the `fieldRef` of a file in a `downwardAPI` volume can refer. Such a `fieldRef` can also refer to a single label or
 * annotation.
 */
export const fileFields: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]

/** The field paths that kube-apiserver recognizes in `fieldRef` (k8s.io/kubernetes/pkg/apis/core/pods: ConvertDownwardAPIFieldLabel). */
const knownFields = new Set([...variableFields, ...fileFields, 'spec.restartPolicy', 'spec.schedulerName', 'status.phase', 'spec.host'])
const mapFields = ['metadata.annotations', 'metadata.labels']

/** Validates `fieldRef` (validateObjectFieldSelector). */
export function validateFieldRef(reference: JsonObject, path: string, fields: readonly string[]): FieldError[] {
  const [apiVersion, given] = [textAt(reference, 'apiVersion'), textAt(reference, 'fieldPath')]
  if (apiVersion === '') return [required(`${path}.apiVersion`)]
  if (given === '') return [required(`${path}.fieldPath`)]
  const refuse = (why: string): FieldError[] => [invalid(`${path}.fieldPath`, given, `error converting fieldPath: ${why}`)]
  if (apiVersion !== 'v1') return refuse(`unsupported pod version: ${apiVersion}`)
  const [, map, key] = /^(.+?)\['(.*)'\]$/s.exec(given) ?? []
  if (map !== undefined && key !== undefined) {
    if (!mapFields.includes(map)) return refuse(`field label does not support subscript: ${given}`)
    const name = map === 'metadata.annotations' ? key.toLowerCase() : key
    return qualifiedName(name).map((detail) => invalid(path, name, detail))
  }
  if (!knownFields.has(given)) return refuse(`field label not supported: ${given}`)
  const field = given === 'spec.host' ? 'spec.nodeName' : given
  return fields.includes(field) ? [] : [notSupported(`${path}.fieldPath`, field, fields)]
}

const containerResources = ['cpu', 'ephemeral-storage', 'memory']
const resourceFields = ['limits', 'requests'].flatMap((kind) => containerResources.map((resource) => `${kind}.${resource}`))
const sizeDivisors = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']

/**
 * The allowed divisors of a resource. In the error message, `list` is the text for the divisors, and `resource` is the text for the
 * resource.
 */
interface Divisors {
  readonly allowed: readonly string[]
  readonly list: string
  readonly resource: string
}

const sizes = (resource: string): Divisors => ({ allowed: sizeDivisors, list: sizeDivisors.join(', '), resource })
const divisorsOf: Readonly<Record<string, Divisors>> = {
  cpu: { allowed: ['1m', '1'], list: '1m and 1', resource: 'cpu' },
  memory: sizes('memory'),
  'ephemeral-storage': sizes('local ephemeral storage'),
  hugepages: sizes('hugepages'),
}

/**
 * Validates `resourceFieldRef` (validateContainerResourceFieldSelector).
 *
 * @param isFile true if the reference is in a volume. In a volume, the reference must name a container.
 */
export function validateResourceFieldRef(reference: JsonObject, path: string, isFile: boolean): FieldError[] {
  const resource = textAt(reference, 'resource')
  const isHuge = /^(?:limits|requests)\.hugepages-/.test(resource)
  const errors: FieldError[] = []
  if (isFile && textAt(reference, 'containerName') === '') errors.push(required(`${path}.containerName`))
  else if (resource === '') errors.push(required(`${path}.resource`))
  else if (!isHuge && !resourceFields.includes(resource)) errors.push(notSupported(`${path}.resource`, resource, resourceFields))
  const divisor = quantityText(reference.divisor ?? '0')
  const divisors = isHuge
    ? divisorsOf.hugepages
    : resourceFields.includes(resource)
      ? divisorsOf[resource.replace(/^\w+\./, '')]
      : undefined
  if (divisor === '0' || divisors === undefined || divisors.allowed.includes(divisor)) return errors
  const detail = `only divisor's values ${divisors.list} are supported with the ${divisors.resource} resource`
  return [...errors, invalid(`${path}.divisor`, resource, detail)]
}

/** Validates `configMapKeyRef` or `secretKeyRef` (validateConfigMapKeySelector). */
export function validateKeyRef(reference: JsonObject, path: string): FieldError[] {
  const [name, key] = [textAt(reference, 'name'), textAt(reference, 'key')]
  const errors = longName(name).map((detail) => invalid(`${path}.name`, name, detail))
  if (key === '') return [...errors, required(`${path}.key`)]
  return [...errors, ...keyErrors(key).map((detail) => invalid(`${path}.key`, key, detail))]
}

const maxKeyLength = 253

/** Returns an error message for each problem of a key of a ConfigMap or Secret (k8s.io/apimachinery/pkg/util/validation: IsConfigMapKey). */
function keyErrors(key: string): string[] {
  return [
    ...(Buffer.byteLength(key) > maxKeyLength ? [`must be no more than ${maxKeyLength} characters`] : []),
    ...(/^[-._a-zA-Z0-9]+$/.test(key)
      ? []
      : [
          "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', " +
            "regex used for validation is '[-._a-zA-Z0-9]+')",
        ]),
    ...(key === '.' || key === '..' ? [`must not be '${key}'`] : key.startsWith('..') ? ["must not start with '..'"] : []),
  ]
}

/** Validates `fileKeyRef` (validateFileKeySelector). */
export function validateFileKeyRef(reference: JsonObject, path: string): FieldError[] {
  const [key, volume, file] = [textAt(reference, 'key'), textAt(reference, 'volumeName'), textAt(reference, 'path')]
  return [
    ...(key === '' ? [required(`${path}.key`)] : variableNameErrors(key).map((detail) => invalid(`${path}.key`, key, detail))),
    ...(volume === ''
      ? [required(`${path}.volumeName`)]
      : shortName(volume).map((detail) => invalid(`${path}.volumeName`, volume, detail))),
    ...(file === '' ? [required(`${path}.path`)] : pathWithoutBacksteps(file, `${path}.path`)),
  ]
}

/** Returns an error message for each problem of the name of a variable (k8s.io/apimachinery/pkg/util/validation: IsRelaxedEnvVarName). */
export function variableNameErrors(name: string): string[] {
  return /^[ -<>-~]*$/.test(name)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"]
}
