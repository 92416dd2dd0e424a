/**
 * The scale subresource of custom resources. The CRD specifies the paths of the fields from which the API server builds the
 * `autoscaling/v1` Scale.
 */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, setOwn } from '../../api/json.ts'
import type { FieldError } from '../../api/field-error.ts'
import { invalid } from '../../api/field-error.ts'
import type { StatusError } from '../apimachinery/status-error.ts'
import { bareError, internalError } from '../apimachinery/status-error.ts'
import type { SubresourceInfo } from '../rest/subresource.ts'
import { goText, goTypeName } from '../types/go-text.ts'
import type { Definition, DefinitionScale } from './definition.ts'
import { plainFields } from './json-path.ts'

const maxReplicas = 2 ** 31 - 1

export function scaleSubresource(
  { specReplicasPath, statusReplicasPath, labelSelectorPath }: DefinitionScale,
  spec: Definition['spec'],
): SubresourceInfo {
  const specFields = plainFields(specReplicasPath) ?? []
  const statusFields = plainFields(statusReplicasPath) ?? []
  const selectorFields = labelSelectorPath === undefined ? undefined : plainFields(labelSelectorPath)
  return {
    kind: 'Scale',
    group: 'autoscaling',
    version: 'v1',
    verbs: ['get', 'patch', 'update'],
    replicasPath: (apiVersion) => replicasPathIn(spec, apiVersion),
    read(object, { writing = false } = {}) {
      const replicas = valueAt(object, specFields)
      // A missing replicas field is an error only when the Scale is read. A write may set the field for the first time.
      if (typeof replicas !== 'number' && !writing) throw missingReplicas(specReplicasPath)
      const selector = selectorFields === undefined ? undefined : valueAt(object, selectorFields)
      const observed = valueAt(object, statusFields)
      return {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: scaleMetadata(object),
        // Go's encoder omits `spec.replicas` if it is 0, but not `status.replicas`.
        spec: typeof replicas === 'number' && replicas !== 0 ? { replicas } : {},
        status: { replicas: typeof observed === 'number' ? observed : 0, ...(typeof selector === 'string' ? { selector } : {}) },
      }
    },
    write(object, written) {
      const replicas = isObject(written.spec) ? (getOwn(written.spec, 'replicas') ?? 0) : 0
      return withValueAt(object, specFields, replicas)
    },
  }
}

function replicasPathIn({ group, versions }: Definition['spec'], apiVersion: string): readonly string[] | null | undefined {
  const version = versions.find(({ name }) => apiVersion === `${group}/${name}`)
  if (version === undefined) return undefined
  const { scale } = version.subresources ?? {}
  return scale === undefined ? null : (plainFields(scale.specReplicasPath) ?? null)
}

/**
 * Returns the errors of the fields that the scale subresource uses. Each write of the object or its status is validated by this function.
 */
export function validateScale(scale: DefinitionScale, object: JsonObject, subresource: string): FieldError[] {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale
  const number = (path: string): FieldError[] => {
    const { value, problem } = lookup(object, path, 'int64')
    return problem === undefined ? replicasErrors(path, value ?? 0) : [invalid(path, 0, problem)]
  }
  const selector = labelSelectorPath === undefined ? {} : lookup(object, labelSelectorPath, 'string')
  return [
    ...(subresource === 'status' ? [] : number(specReplicasPath)),
    ...number(statusReplicasPath),
    ...(selector.problem === undefined ? [] : [invalid(labelSelectorPath!, '', selector.problem)]),
  ]
}

function replicasErrors(path: string, replicas: JsonValue): FieldError[] {
  if (typeof replicas !== 'number') return []
  if (replicas < 0) return [invalid(path, replicas, 'should be a non-negative integer')]
  return replicas > maxReplicas ? [invalid(path, replicas, `should be less than or equal to ${maxReplicas}`)] : []
}

/**
 * Looks up a path in an object. `value` is the value at the path; undefined when there is no value. If a value on the path has the wrong
 * type, the result has Go's message in `problem` instead.
 */
function lookup(object: JsonObject, path: string, type: 'int64' | 'string'): { value?: JsonValue; problem?: string } {
  let value: JsonValue | undefined = object
  for (const field of plainFields(path) ?? []) {
    if (value === undefined || value === null) return {}
    if (!isObject(value)) return { problem: accessorProblem(path, value, 'map[string]interface{}') }
    value = getOwn(value, field)
  }
  if (value === undefined) return {}
  const fits = type === 'string' ? typeof value === 'string' : typeof value === 'number' && Number.isInteger(value)
  return fits ? { value } : { problem: accessorProblem(path, value, type) }
}

function accessorProblem(path: string, value: JsonValue, expected: string): string {
  return `${path} accessor error: ${goText(value)} is of the type ${goTypeName(value)}, expected ${expected}`
}

/** Returns the 500 error for a missing replicas field. */
function missingReplicas(path: string): StatusError {
  return internalError(`the spec replicas field ${JSON.stringify(path)} does not exist`)
}

function scaleMetadata({ metadata }: JsonObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = isObject(metadata) ? metadata : {}
  return { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp }
}

function valueAt(object: JsonObject, fields: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = object
  for (const field of fields) value = isObject(value) ? getOwn(value, field) : undefined
  return value
}

/**
 * Returns a copy of the object with a new value at a path. Throws when a field on the path has a value that is not an object, e.g. null
 * (k8s.io/apimachinery/pkg/apis/meta/v1/unstructured: SetNestedField).
 */
function withValueAt(object: JsonObject, [field, ...rest]: readonly string[], value: JsonValue, at = ''): JsonObject {
  if (field === undefined) return object
  const copy = { ...object }
  if (rest.length === 0) {
    setOwn(copy, field, value)
    return copy
  }
  const path = `${at}.${field}`
  const child = getOwn(object, field)
  if (child !== undefined && !isObject(child)) {
    throw bareError(`value cannot be set because ${path} is not a map[string]interface{}`)
  }
  setOwn(copy, field, withValueAt(child ?? {}, rest, value, path))
  return copy
}
