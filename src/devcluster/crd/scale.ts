/** The scale subresource of custom resources: an `autoscaling/v1 Scale` over paths of the object. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, setOwn } from '../../api/json.ts'
import type { StatusError } from '../registry/status-error.ts'
import { internalError, invalidObject } from '../registry/status-error.ts'
import type { SubresourceInfo } from '../resources/resource-info.ts'
import type { DefinitionScale } from './definition.ts'
import { plainFields } from './json-path.ts'

export function scaleSubresource({ specReplicasPath, statusReplicasPath, labelSelectorPath }: DefinitionScale): SubresourceInfo {
  const specFields = plainFields(specReplicasPath) ?? []
  const statusFields = plainFields(statusReplicasPath) ?? []
  const selectorFields = labelSelectorPath === undefined ? undefined : plainFields(labelSelectorPath)
  return {
    kind: 'Scale',
    group: 'autoscaling',
    version: 'v1',
    verbs: ['get', 'patch', 'update'],
    read(object) {
      const replicas = valueAt(object, specFields)
      if (typeof replicas !== 'number') throw missingReplicas(specReplicasPath)
      const selector = selectorFields === undefined ? undefined : valueAt(object, selectorFields)
      const observed = valueAt(object, statusFields)
      return {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: scaleMetadata(object),
        spec: { replicas },
        status: { replicas: typeof observed === 'number' ? observed : 0, ...(typeof selector === 'string' ? { selector } : {}) },
      }
    },
    write(object, written) {
      const replicas = isObject(written.spec) ? (getOwn(written.spec, 'replicas') ?? 0) : 0
      if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0) {
        const name = isObject(object.metadata) ? String(object.metadata.name) : ''
        const message = `Invalid value: ${JSON.stringify(replicas)}: should be a non-negative integer`
        throw invalidObject({ group: 'autoscaling', kind: 'Scale' }, name, [
          { path: 'spec.replicas', reason: 'FieldValueInvalid', message },
        ])
      }
      return withValueAt(object, specFields, replicas)
    },
  }
}

/** The API server's own words; its answer has no better code than 500 either. */
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

function withValueAt(object: JsonObject, [field, ...rest]: readonly string[], value: JsonValue): JsonObject {
  if (field === undefined) return object
  const child = getOwn(object, field)
  const copy = { ...object }
  setOwn(copy, field, rest.length === 0 ? value : withValueAt(isObject(child) ? child : {}, rest, value))
  return copy
}
