/** The compiled schemas of kinds, and the complete validation of a custom resource. */
import { ProreusError } from '../api/errors.ts'
import type { FieldError } from '../api/field-error.ts'
import { invalid } from '../api/field-error.ts'
import { apiVersionOf } from '../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { getOwn, isObject } from '../api/json.ts'
import type { Kind } from '../api/kind.ts'
import { pathSegmentName } from '../api/name-syntax.ts'
import { validateObjectMeta } from '../api/object-meta.ts'
import type { CompiledSchema } from './compile.ts'
import { compileSchema } from './compile.ts'

/**
 * Returns the compiled schema of a version of a kind. Default: the storage version.
 *
 * @throws {ProreusError} `PRO_KIND_INVALID` when the kind does not have this version, `PRO_SCHEMA_INVALID` when kube-apiserver would reject
 * the schema of this version.
 */
export function schemaOf(kind: Kind, version: string = kind.version): CompiledSchema {
  const found = kind.versions.find(({ name }) => name === version)
  if (found === undefined) {
    const names = kind.versions.map(({ name }) => name).join(', ')
    throw new ProreusError('PRO_KIND_INVALID', `${kind.kind}.${kind.group} has no version ${version}; it has ${names}.`)
  }
  return compileSchema(found.schema, `of version ${version} of ${kind.kind}.${kind.group}`)
}

export interface ValidateOptions {
  /**
   * The version whose schema is used. Default: the version in the object's apiVersion, or the storage version if the kind does not have
   * that version.
   */
  readonly version?: string
  /** The stored object, when `object` is the new object of an update. */
  readonly oldObject?: JsonObject
}

/**
 * Returns all errors of an object: the errors of its metadata, of its structure and of its rules. The object must already be pruned and
 * defaulted. If the apiVersion or kind is wrong, no other error is reported.
 */
export function validateObject(kind: Kind, object: JsonObject, options: ValidateOptions = {}): FieldError[] {
  const version = options.version ?? versionOf(kind, object)
  const wrongType = [...mustBe('apiVersion', object, apiVersionOf({ group: kind.group, version })), ...mustBe('kind', object, kind.kind)]
  if (wrongType.length > 0) return wrongType
  const schema = schemaOf(kind, version)
  const errors = [
    ...validateObjectMeta(withoutGeneration(getOwn(object, 'metadata')), {
      namespaced: kind.namespaced,
      // An update keeps the name of an existing object, even if the name violates the stricter rules for new objects.
      ...(options.oldObject === undefined ? {} : { name: pathSegmentName }),
    }),
    ...schema.validateStructure(object, options.oldObject),
  ]
  return [...errors, ...schema.validateRules(object, options.oldObject, errors)]
}

/** kube-apiserver sets the generation of custom resources itself, and ignores the generation in a request. */
function withoutGeneration(metadata: JsonValue | undefined): JsonValue | undefined {
  if (!isObject(metadata) || metadata.generation === undefined) return metadata
  const { generation: _, ...rest } = metadata
  return rest
}

function versionOf(kind: Kind, object: JsonObject): string {
  const apiVersion = getOwn(object, 'apiVersion')
  return kind.versions.find(({ name }) => apiVersionOf({ group: kind.group, version: name }) === apiVersion)?.name ?? kind.version
}

function mustBe(field: 'apiVersion' | 'kind', object: JsonObject, value: string): FieldError[] {
  const actual = getOwn(object, field)
  return actual === value ? [] : [invalid(field, actual ?? '', `must be ${value}`)]
}
