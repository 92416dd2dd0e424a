/** From a structural schema to the functions that prune, default and validate objects. */
import type { ValidateFunction } from 'ajv'
import { ProreusError } from '../api/errors.ts'
import type { FieldError } from '../api/field-error.ts'
import { formatFieldError } from '../api/field-error.ts'
import type { JsonObject } from '../api/json.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { applyDefaults } from './default.ts'
import { buildRootNode } from './node.ts'
import { prune } from './prune.ts'
import { explainRefusal } from './refusal.ts'
import { checkStructural } from './structural.ts'
import { compileCheck } from './translate.ts'

export interface CompiledSchema {
  readonly schema: StructuralSchema
  /**
   * Removes what the schema does not name, but never apiVersion, kind and metadata. The same object when nothing was removed.
   * `unknown` are the removed fields' paths, such as `spec.foo` and `spec.list[0].bar`, in document order.
   */
  prune(object: JsonObject): { object: JsonObject; unknown: readonly string[] }
  /**
   * Drops nulls (of fields that are not nullable and have no default) and fills in defaults. The same object when nothing changed.
   * Defaults that are objects are shared and frozen.
   */
  default(object: JsonObject): JsonObject
  /**
   * Everything that is wrong with the structure of the object, unsorted; empty when it is valid. The object's own metadata is not
   * looked at (`validateObjectMeta`). An update need not mend lists that were no proper sets or maps in `oldObject` already.
   */
  validate(object: JsonObject, oldObject?: JsonObject): readonly FieldError[]
}

const compiled = new WeakMap<StructuralSchema, CompiledSchema>()
const nothingWrong: readonly FieldError[] = Object.freeze([])

/**
 * Compiles a schema, once for each schema object.
 *
 * @throws {ProreusError} `PRO_SCHEMA_INVALID` when the API server would not accept the schema.
 */
export function compileSchema(schema: StructuralSchema): CompiledSchema {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const problems = checkStructural(schema)
  if (problems.length > 0) {
    throw new ProreusError(
      'PRO_SCHEMA_INVALID',
      `The schema is not one that a CustomResourceDefinition may have: ${problems.map(formatFieldError).join('; ')}.`,
    )
  }
  const result = createCompiledSchema(schema)
  compiled.set(schema, result)
  return result
}

function createCompiledSchema(schema: StructuralSchema): CompiledSchema {
  const root = buildRootNode(schema)
  const prunable = { ...root, embeddedResource: true }
  // Compiling for ajv is the dear part, and a process that only reads never needs it.
  let check: ValidateFunction | undefined
  return Object.freeze({
    schema,
    prune: (object) => {
      const { value, unknown } = prune(prunable, object)
      return { object: value, unknown }
    },
    default: (object) => applyDefaults(root, object) as JsonObject,
    // The rules in x-kubernetes-validations are not evaluated. They come after the structure: the API server skips them
    // where an error of type, required, enum, length or count stands.
    validate: (object, oldObject) => {
      check ??= compileCheck(root)
      return check(object) ? nothingWrong : explainRefusal(root, check.errors?.[0], object, oldObject)
    },
  } satisfies CompiledSchema)
}
