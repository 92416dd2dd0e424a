/** The schemas of kinds, and everything at once that can be said about an object of a kind. */
import { ProreusError } from '../api/errors.ts'
import type { FieldError } from '../api/field-error.ts'
import { invalid } from '../api/field-error.ts'
import { apiVersionOf } from '../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { getOwn, isObject } from '../api/json.ts'
import type { Kind } from '../api/kind.ts'
import { pathSegmentName } from '../api/names.ts'
import { validateObjectMeta } from '../api/object-meta.ts'
import type { CompiledSchema } from './compile.ts'
import { compileSchema } from './compile.ts'

/**
 * The compiled schema of one version of a kind; of the stored one by default.
 *
 * @throws {ProreusError} `PRO_KIND_INVALID` when the kind has no such version, `PRO_SCHEMA_INVALID` when the API server would not accept
 * its schema.
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
  /** Default: the version that the object names, if the kind has it, else the stored one. */
  readonly version?: string
  /** What an update replaces. */
  readonly oldObject?: JsonObject
}

/**
 * Everything that a kind's schema and the API conventions have to say about an object, which is pruned and defaulted already.
 * An object of another kind or version is told that alone.
 */
export function validateObject(kind: Kind, object: JsonObject, options: ValidateOptions = {}): FieldError[] {
  const version = options.version ?? versionOf(kind, object)
  const wrongType = [...mustBe('apiVersion', object, apiVersionOf({ group: kind.group, version })), ...mustBe('kind', object, kind.kind)]
  if (wrongType.length > 0) return wrongType
  const schema = schemaOf(kind, version)
  const errors = [
    ...validateObjectMeta(withoutGeneration(getOwn(object, 'metadata')), {
      namespaced: kind.namespaced,
      // What is there already keeps its name, whatever the rules for new ones are.
      ...(options.oldObject === undefined ? {} : { name: pathSegmentName }),
    }),
    ...schema.validateStructure(object, options.oldObject),
  ]
  return [...errors, ...schema.validateRules(object, options.oldObject, errors)]
}

/** The API server counts the generations of custom resources, whatever is sent. */
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
