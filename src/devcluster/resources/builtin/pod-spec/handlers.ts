/** Validation of probes and lifecycle handlers (k8s.io/kubernetes/pkg/apis/core/validation: validateHandler). */
import type { FieldError } from '../../../../api/field-error.ts'
import { forbidden, invalid, required } from '../../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../../api/json.ts'
import { isObject } from '../../../../api/json.ts'
import { listAt, numberAt, textAt } from '../../../apimachinery/unstructured.ts'
import { nonNegative, validateEnum, validatePort, validatePortOrName } from '../field-checks.ts'

type Handler = (action: JsonObject, path: string, gracePeriodSeconds: number | undefined) => FieldError[]

/** The validation function of each handler type. */
const handlers: Readonly<Record<string, Handler>> = {
  exec: (action, path) => (listAt(action, 'command').length === 0 ? [required(`${path}.command`)] : []),
  httpGet: validateHttpGet,
  tcpSocket: (action, path) => validatePortOrName(action.port, `${path}.port`),
  grpc: (action, path) => validatePort(action.port ?? 0, `${path}.port`),
  sleep: validateSleep,
}
const handlersOfProbes = ['exec', 'httpGet', 'tcpSocket', 'grpc']
const handlersOfLifecycle = ['exec', 'httpGet', 'tcpSocket', 'sleep']

function validateHttpGet(action: JsonObject, path: string): FieldError[] {
  return [
    ...(textAt(action, 'path') === '' ? [required(`${path}.path`)] : []),
    ...validatePortOrName(action.port, `${path}.port`),
    ...validateEnum(action, 'scheme', path, ['HTTP', 'HTTPS']),
    ...listAt(action, 'httpHeaders').flatMap((header) => {
      const name = textAt(header, 'name')
      const rule = "a valid HTTP header must consist of alphanumeric characters or '-'"
      return /^[-A-Za-z0-9]+$/.test(name)
        ? []
        : [invalid(`${path}.httpHeaders`, name, `${rule} (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')`)]
    }),
  ]
}

function validateSleep(action: JsonObject, path: string, gracePeriodSeconds: number | undefined): FieldError[] {
  const seconds = numberAt(action, 'seconds')
  if (gracePeriodSeconds === undefined || (seconds >= 0 && seconds <= gracePeriodSeconds)) return []
  return [invalid(path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriodSeconds})`)]
}

function validateHandler(handler: JsonObject, path: string, names: readonly string[], grace: number | undefined): FieldError[] {
  const [first, ...others] = names.filter((name) => isObject(handler[name]))
  if (first === undefined) return [required(path, 'must specify a handler type')]
  return [
    ...handlers[first]!(handler[first] as JsonObject, `${path}.${first}`, grace),
    ...others.map((other) => forbidden(`${path}.${other}`, 'may not specify more than 1 handler type')),
  ]
}

const probes = ['livenessProbe', 'readinessProbe', 'startupProbe']
const probeNumbers = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold']

/** Validates the lifecycle handlers and probes of a regular container or a sidecar. */
export function validateLifecycleAndProbes(container: JsonObject, path: string, gracePeriodSeconds: number | undefined): FieldError[] {
  return [
    ...validateLifecycle(container.lifecycle, `${path}.lifecycle`, gracePeriodSeconds),
    ...probes.flatMap((field) => validateProbe(container[field], field, `${path}.${field}`)),
  ]
}

/** Returns errors for `lifecycle` and the probes of an init container. Only regular containers and sidecars may have these fields. */
export function refuseLifecycleAndProbes(container: JsonObject, path: string): FieldError[] {
  return ['lifecycle', ...probes]
    .filter((field) => isObject(container[field]))
    .map((field) => forbidden(`${path}.${field}`, 'may not be set for init containers without restartPolicy=Always'))
}

function validateProbe(probe: JsonValue | undefined, field: string, path: string): FieldError[] {
  if (!isObject(probe)) return []
  const { successThreshold, terminationGracePeriodSeconds: grace } = probe
  return [
    ...validateHandler(probe, path, handlersOfProbes, undefined),
    ...probeNumbers.flatMap((name) => nonNegative(probe[name], `${path}.${name}`)),
    ...(typeof grace === 'number' && grace <= 0 ? [invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')] : []),
    ...(field !== 'readinessProbe' && successThreshold !== 1 ? [invalid(`${path}.successThreshold`, successThreshold, 'must be 1')] : []),
    ...(field === 'readinessProbe' && typeof grace === 'number'
      ? [invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes')]
      : []),
  ]
}

function validateLifecycle(lifecycle: JsonValue | undefined, path: string, gracePeriodSeconds: number | undefined): FieldError[] {
  if (!isObject(lifecycle)) return []
  return ['postStart', 'preStop'].flatMap((field) => {
    const handler = lifecycle[field]
    return isObject(handler) ? validateHandler(handler, `${path}.${field}`, handlersOfLifecycle, gracePeriodSeconds) : []
  })
}
