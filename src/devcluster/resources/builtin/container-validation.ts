/** What the API server demands of the containers of a Pod (pkg/apis/core/validation), in its words. */
import type { FieldError } from '../../../api/field-error.ts'
import { duplicate, invalid, notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { dns1123Label, qualifiedName } from '../../../api/names.ts'
import { at, listAt, textAt } from '../columns.ts'
import { parseQuantity } from '../quantity.ts'

const pullPolicies = ['Always', 'IfNotPresent', 'Never']
const terminationMessagePolicies = ['FallbackToLogsOnError', 'File']
const protocols = ['SCTP', 'TCP', 'UDP']

/** `taken`: names that other containers of the Pod have; the names found here are added. */
export function validateContainer(container: JsonObject, path: string, volumes: ReadonlySet<string>, taken: Set<string>): FieldError[] {
  const image = textAt(container, 'image')
  return [
    ...validateName(container, path, taken),
    ...(image === ''
      ? [required(`${path}.image`)]
      : image === image.trim()
        ? []
        : [invalid(`${path}.image`, image, 'must not have leading or trailing whitespace')]),
    ...validateEnum(container, 'terminationMessagePolicy', path, terminationMessagePolicies),
    ...validateEnum(container, 'imagePullPolicy', path, pullPolicies),
    ...validatePorts(listAt(container, 'ports'), `${path}.ports`),
    ...objects(listAt(container, 'env')).flatMap(([variable, index]) => validateEnv(variable, `${path}.env[${index}]`)),
    ...validateVolumeMounts(listAt(container, 'volumeMounts'), `${path}.volumeMounts`, volumes),
    ...validateResources(container.resources, `${path}.resources`),
  ]
}

function validateName(container: JsonObject, path: string, taken: Set<string>): FieldError[] {
  const name = textAt(container, 'name')
  if (name === '') return [required(`${path}.name`)]
  const errors = dns1123Label(name).map((detail) => invalid(`${path}.name`, name, detail))
  if (taken.has(name)) errors.push(duplicate(`${path}.name`, name))
  taken.add(name)
  return errors
}

/** A field that defaulting has filled in, with one of the known values. */
export function validateEnum(object: JsonObject, field: string, path: string, values: readonly string[]): FieldError[] {
  const value = textAt(object, field)
  if (value === '') return [required(`${path}.${field}`)]
  return values.includes(value) ? [] : [notSupported(`${path}.${field}`, value, values)]
}

function validatePorts(ports: readonly JsonValue[], path: string): FieldError[] {
  const names = new Set<string>()
  return objects(ports).flatMap(([port, index]) => {
    const here = `${path}[${index}]`
    const errors: FieldError[] = []
    const name = textAt(port, 'name')
    if (name !== '') {
      errors.push(...portNameErrors(name).map((detail) => invalid(`${here}.name`, name, detail)))
      if (names.has(name)) errors.push(duplicate(`${here}.name`, name))
      names.add(name)
    }
    if (port.containerPort === undefined || port.containerPort === 0) errors.push(required(`${here}.containerPort`))
    else errors.push(...validatePort(port.containerPort, `${here}.containerPort`))
    if (port.hostPort !== undefined && port.hostPort !== 0) errors.push(...validatePort(port.hostPort, `${here}.hostPort`))
    return [...errors, ...validateEnum(port, 'protocol', here, protocols)]
  })
}

/** A port number. */
export function validatePort(port: JsonValue, path: string): FieldError[] {
  return typeof port === 'number' && port >= 1 && port <= 65_535 ? [] : [invalid(path, port, 'must be between 1 and 65535, inclusive')]
}

function portNameErrors(name: string): string[] {
  return [
    ...(name.length > 15 ? ['must be no more than 15 characters'] : []),
    ...(/^[-a-z0-9]+$/.test(name) ? [] : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
    ...(/[a-z]/.test(name) ? [] : ['must contain at least one letter (a-z)']),
    ...(name.includes('--') ? ['must not contain consecutive hyphens'] : []),
    ...(/^-|-$/.test(name) ? ['must not begin or end with a hyphen'] : []),
  ]
}

const envSources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef']

function validateEnv(variable: JsonObject, path: string): FieldError[] {
  const name = textAt(variable, 'name')
  const errors: FieldError[] = []
  if (name === '') errors.push(required(`${path}.name`))
  else if (!/^[ -<>-~]+$/.test(name)) {
    errors.push(
      invalid(`${path}.name`, name, "a valid environment variable name must consist only of printable ASCII characters other than '='"),
    )
  }
  const { valueFrom } = variable
  if (!isObject(valueFrom)) return errors
  const here = `${path}.valueFrom`
  const given = envSources.filter((source) => isObject(valueFrom[source]))
  if (given.length === 0) {
    errors.push(invalid(here, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'))
  } else if (textAt(variable, 'value') !== '') {
    errors.push(invalid(here, '', 'may not be specified when `value` is not empty'))
  } else if (given.length > 1) {
    errors.push(invalid(here, '', 'may not have more than one field specified at a time'))
  }
  for (const source of ['configMapKeyRef', 'secretKeyRef']) {
    const reference = valueFrom[source]
    if (!isObject(reference)) continue
    if (textAt(reference, 'key') === '') errors.push(required(`${here}.${source}.key`))
  }
  if (isObject(valueFrom.fieldRef) && textAt(valueFrom, 'fieldRef', 'fieldPath') === '') errors.push(required(`${here}.fieldRef.fieldPath`))
  return errors
}

function validateVolumeMounts(mounts: readonly JsonValue[], path: string, volumes: ReadonlySet<string>): FieldError[] {
  const paths = new Set<string>()
  return objects(mounts).flatMap(([mount, index]) => {
    const here = `${path}[${index}]`
    const [name, mountPath] = [textAt(mount, 'name'), textAt(mount, 'mountPath')]
    const errors: FieldError[] = []
    if (name === '') errors.push(required(`${here}.name`))
    else if (!volumes.has(name))
      errors.push({ path: `${here}.name`, reason: 'FieldValueNotFound', message: `Not found: ${JSON.stringify(name)}` })
    if (mountPath === '') errors.push(required(`${here}.mountPath`))
    else if (paths.has(mountPath)) errors.push(invalid(`${here}.mountPath`, mountPath, 'must be unique'))
    paths.add(mountPath)
    return errors
  })
}

const standardResources = new Set(['cpu', 'memory', 'ephemeral-storage'])

function validateResources(resources: JsonValue | undefined, path: string): FieldError[] {
  if (!isObject(resources)) return []
  const errors: FieldError[] = []
  for (const kind of ['limits', 'requests'] as const) {
    for (const [name, value] of Object.entries(isObject(resources[kind]) ? resources[kind] : {})) {
      const here = `${path}.${kind}[${name}]`
      errors.push(...qualifiedName(name).map((detail) => invalid(here, name, detail)))
      if (!name.includes('/') && !standardResources.has(name) && !name.startsWith('hugepages-')) {
        errors.push(
          invalid(here, name, 'must be a standard resource type or fully qualified'),
          invalid(here, name, 'must be a standard resource for containers'),
        )
      }
      if ((parseQuantity(value) ?? 0) < 0) errors.push(invalid(here, String(value), 'must be greater than or equal to 0'))
      if (kind !== 'requests') continue
      const limit = at(resources, 'limits', name)
      if (limit !== undefined && limit !== null && (parseQuantity(value) ?? 0) > (parseQuantity(limit) ?? Infinity)) {
        errors.push(invalid(`${path}.requests`, String(value), `must be less than or equal to ${name} limit of ${String(limit)}`))
      }
    }
  }
  return errors
}

/** The objects of a list with their indices; what is no object was refused while decoding. */
export function objects(list: readonly JsonValue[]): (readonly [JsonObject, number])[] {
  return list.flatMap((item, index) => (isObject(item) ? [[item, index] as const] : []))
}
