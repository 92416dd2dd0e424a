/** Validation of containers (k8s.io/kubernetes/pkg/apis/core/validation). */
import type { FieldError } from '../../../api/field-error.ts'
import { duplicate, forbidden, invalid, notFoundField, notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject, jsonEqual } from '../../../api/json.ts'
import { qualifiedName, shortName } from '../../../api/name-syntax.ts'
import { at, listAt, textAt } from '../../apimachinery/unstructured.ts'
import { parseQuantity } from '../../apimachinery/quantity.ts'

const pullPolicies = ['Always', 'IfNotPresent', 'Never']
const terminationMessagePolicies = ['File', 'FallbackToLogsOnError']
const protocols = ['SCTP', 'TCP', 'UDP']

/**
 * Validates a container.
 *
 * @param volumes the names of the volumes of the Pod.
 * @param taken the names of the containers that have been validated before. The name of this container is added.
 */
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
    ...['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((field) => validateProbe(container[field], field, path)),
    ...validateLifecycle(container.lifecycle, `${path}.lifecycle`),
    ...validateSecurityContext(container.securityContext, `${path}.securityContext`),
  ]
}

const probeNumbers = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold']

function validateProbe(probe: JsonValue | undefined, field: string, container: string): FieldError[] {
  if (!isObject(probe)) return []
  const path = `${container}.${field}`
  const { successThreshold, terminationGracePeriodSeconds: grace } = probe
  return [
    ...validateHandler(probe, path),
    ...probeNumbers.flatMap((name) => nonNegative(probe[name], `${path}.${name}`)),
    ...(typeof grace === 'number' && grace <= 0 ? [invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')] : []),
    ...(field !== 'readinessProbe' && successThreshold !== 1 ? [invalid(`${path}.successThreshold`, successThreshold, 'must be 1')] : []),
    ...(field === 'readinessProbe' && typeof grace === 'number'
      ? [invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes')]
      : []),
  ]
}

function validateLifecycle(lifecycle: JsonValue | undefined, path: string): FieldError[] {
  if (!isObject(lifecycle)) return []
  return ['postStart', 'preStop'].flatMap((field) => {
    const handler = lifecycle[field]
    return isObject(handler) ? validateHandler(handler, `${path}.${field}`) : []
  })
}

function validateHandler(handler: JsonObject, path: string): FieldError[] {
  const [first, ...others] = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'].filter((kind) => isObject(handler[kind]))
  if (first === undefined) return [required(path, 'must specify a handler type')]
  const errors: FieldError[] = []
  const here = `${path}.${first}`
  if (first === 'exec' && listAt(handler, 'exec', 'command').length === 0) errors.push(required(`${here}.command`))
  if (first === 'httpGet' || first === 'tcpSocket') errors.push(...validatePortOrName(at(handler, first, 'port'), `${here}.port`))
  if (first === 'httpGet') errors.push(...validateEnum(handler.httpGet as JsonObject, 'scheme', here, ['HTTP', 'HTTPS']))
  if (first === 'grpc') errors.push(...validatePort(at(handler, first, 'port') ?? 0, `${here}.port`))
  return [...errors, ...others.map((other) => forbidden(`${path}.${other}`, 'may not specify more than 1 handler type'))]
}

/**
 * The fields of a security context, in the order of kube-apiserver's internal type. Errors quote the whole security context in this order.
 */
const securityContextFields = [
  'capabilities',
  'privileged',
  'seLinuxOptions',
  'windowsOptions',
  'runAsUser',
  'runAsGroup',
  'runAsNonRoot',
  'readOnlyRootFilesystem',
  'allowPrivilegeEscalation',
  'procMount',
  'seccompProfile',
  'appArmorProfile',
]

function validateSecurityContext(context: JsonValue | undefined, path: string): FieldError[] {
  if (!isObject(context)) return []
  const errors = ['runAsUser', 'runAsGroup'].flatMap((field) => {
    const id = context[field]
    return typeof id === 'number' && (id < 0 || id > maxId)
      ? [invalid(`${path}.${field}`, id, `must be between 0 and ${maxId}, inclusive`)]
      : []
  })
  if (context.allowPrivilegeEscalation !== false) return errors
  const { capabilities } = context
  const printed = isObject(capabilities) ? { ...context, capabilities: goStruct(capabilities, ['add', 'drop']) } : context
  const refuse = (detail: string): FieldError => invalidStruct(path, printed, securityContextFields, detail)
  if (context.privileged === true) errors.push(refuse('cannot set `allowPrivilegeEscalation` to false and `privileged` to true'))
  if (listAt(context, 'capabilities', 'add').includes('CAP_SYS_ADMIN'))
    errors.push(refuse('cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'))
  return errors
}

const maxId = 2 ** 31 - 1

/** Go names that differ from the capitalized JSON name, keyed by the JSON name. */
const goNames: Readonly<Record<string, string>> = { apiGroup: 'APIGroup', seLinuxOptions: 'SELinuxOptions' }

/** Returns a struct as kube-apiserver prints it in errors: with all `fields`, keyed by their Go names. A missing field is null. */
export function goStruct(value: JsonValue | undefined, fields: readonly string[]): JsonObject {
  const goName = (field: string): string => field[0]!.toUpperCase() + field.slice(1)
  return Object.fromEntries(fields.map((field) => [goNames[field] ?? goName(field), at(value, field) ?? null]))
}

/** Returns the error "Invalid value" for a struct. The message contains the result of `goStruct`. */
export function invalidStruct(path: string, value: JsonValue | undefined, fields: readonly string[], detail: string): FieldError {
  const printed = JSON.stringify(goStruct(value, fields))
  return { path, reason: 'FieldValueInvalid', message: `Invalid value: ${printed}: ${detail}` }
}

/** Returns the error "Unsupported value" for a struct. The message contains the result of `goStruct`. */
export function notSupportedStruct(
  path: string,
  value: JsonValue | undefined,
  fields: readonly string[],
  values: readonly string[],
): FieldError {
  const printed = JSON.stringify(goStruct(value, fields))
  const supported = values.map((name) => JSON.stringify(name)).join(', ')
  return { path, reason: 'FieldValueNotSupported', message: `Unsupported value: ${printed}: supported values: ${supported}` }
}

export function nonNegative(value: JsonValue | undefined, path: string): FieldError[] {
  return typeof value === 'number' && value < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : []
}

export function immutable(value: JsonValue | undefined, old: JsonValue | undefined, path: string): FieldError[] {
  return jsonEqual(value ?? null, old ?? null) ? [] : [invalid(path, value ?? null, 'field is immutable')]
}

function validateName(container: JsonObject, path: string, taken: Set<string>): FieldError[] {
  const name = textAt(container, 'name')
  if (name === '') return [required(`${path}.name`)]
  const errors = shortName(name).map((detail) => invalid(`${path}.name`, name, detail))
  if (taken.has(name)) errors.push(duplicate(`${path}.name`, name))
  taken.add(name)
  return errors
}

/** Validates an enum field that must be present and not empty. */
export function validateEnum(object: JsonObject, field: string, path: string, values: readonly string[]): FieldError[] {
  const value = textAt(object, field)
  if (value === '') return [required(below(path, field))]
  return values.includes(value) ? [] : [notSupported(below(path, field), value, values)]
}

/** Validates an enum field that may be missing. An empty value is invalid. */
export function validateOptionalEnum(object: JsonObject, field: string, path: string, values: readonly string[]): FieldError[] {
  const value = object[field]
  return typeof value !== 'string' || values.includes(value) ? [] : [notSupported(below(path, field), value, values)]
}

function below(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`
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

export function validatePort(port: JsonValue, path: string): FieldError[] {
  return typeof port === 'number' && port >= 1 && port <= 65_535 ? [] : [invalid(path, port, 'must be between 1 and 65535, inclusive')]
}

/** Validates a port number or the name of a port. */
export function validatePortOrName(port: JsonValue | undefined, path: string): FieldError[] {
  return typeof port === 'string' ? portNameErrors(port).map((detail) => invalid(path, port, detail)) : validatePort(port ?? 0, path)
}

export function portNameErrors(name: string): string[] {
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
    if (!volumes.has(name)) errors.push(notFoundField(`${here}.name`, name))
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
      const wrong = qualifiedName(name).map((detail) => invalid(here, name, detail))
      errors.push(...wrong)
      if (!name.includes('/') && !standardResources.has(name) && !name.startsWith('hugepages-')) {
        if (wrong.length === 0) errors.push(invalid(here, name, 'must be a standard resource type or fully qualified'))
        errors.push(invalid(here, name, 'must be a standard resource for containers'))
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

/** Returns the items of a list with their indices. All items are JSON objects, because decoding has rejected any other item. */
export function objects(list: readonly JsonValue[]): (readonly [JsonObject, number])[] {
  return list.flatMap((item, index) => (isObject(item) ? [[item, index] as const] : []))
}
