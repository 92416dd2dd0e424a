/** From a structural schema to the functions that prune, default and validate objects. */
import type { ValidateFunction } from 'ajv'
import { ProreusError } from '../api/errors.ts'
import type { FieldError, FieldErrorReason } from '../api/field-error.ts'
import { formatFieldError, invalid } from '../api/field-error.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { compileRules } from './cel/rules.ts'
import { coerceResources, holdsResources } from './coerce.ts'
import { applyDefaults, dropNulls } from './default.ts'
import type { SchemaNode } from './node.ts'
import { buildRootNode } from './node.ts'
import { prune } from './prune.ts'
import { explainRefusal } from './refusal.ts'
import { checkStructural } from './structural.ts'
import { compileCheck } from './translate.ts'
import { holdsBuiltins, unknownFields } from './unknown-fields.ts'

export interface CompiledSchema {
  readonly schema: StructuralSchema
  /**
   * Removes what the schema does not name, but never apiVersion, kind and metadata. The same object when nothing was removed.
   * `unknown` are the removed fields' paths, such as `spec.foo` and `spec.list[0].bar`, sorted; those of embedded metadata come last.
   * `malformed` says of an embedded resource why the API server does not even read the object.
   */
  prune(object: JsonObject): { object: JsonObject; unknown: readonly string[]; malformed?: FieldError }
  /**
   * Drops nulls (of fields that are not nullable and have no default) and fills in defaults. The same object when nothing changed.
   * Defaults that are objects are shared and frozen.
   */
  default(object: JsonObject): JsonObject
  /**
   * Fields inside built-in types (`Type.Builtin`) that those types do not have, sorted; at most `limit` of them, by default
   * all. The API server keeps them: it is told nothing of the type.
   */
  unknownFields(object: JsonObject, limit?: number): readonly string[]
  /**
   * What this schema leaves of an object that comes from another version: pruned, and without nulls, but with no defaults.
   * `dropped` is called with the paths that were pruned, as `prune` gives them, when there are any.
   */
  convert(object: JsonObject, dropped?: (paths: readonly string[]) => void): JsonObject
  /**
   * Everything that is wrong with the object, unsorted; empty when it is valid: its structure, then its rules. The object's own
   * metadata is not looked at (`validateObjectMeta`). An update need not mend what it leaves as it is in `oldObject`, nor lists while
   * any was no proper set or map before.
   */
  validate(object: JsonObject, oldObject?: JsonObject): readonly FieldError[]
  /** Its structure alone. */
  validateStructure(object: JsonObject, oldObject?: JsonObject): readonly FieldError[]
  /**
   * The structure of the object's status alone, as a write of that subresource is validated. Nothing is wrong where there is no status,
   * or no schema of one.
   */
  validateStatus(object: JsonObject, oldObject?: JsonObject): readonly FieldError[]
  /**
   * Its rules alone, the `x-kubernetes-validations`. They are skipped, with an error that says so, where one of the errors `found`
   * before makes them meaningless. `warn` gets what an update left as it was.
   */
  validateRules(
    object: JsonObject,
    oldObject: JsonObject | undefined,
    found: readonly FieldError[],
    warn?: (warning: FieldError) => void,
  ): readonly FieldError[]
}

const compiled = new WeakMap<StructuralSchema, CompiledSchema>()
const nothingWrong: readonly FieldError[] = Object.freeze([])
const noFields: readonly string[] = Object.freeze([])

/** With one of these, the API server evaluates no rule (apiextensions `hasBlockingErr`). */
const blocking: ReadonlySet<FieldErrorReason> = new Set<FieldErrorReason>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])
const rulesNotChecked = invalid(
  '<nil>',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
)

/**
 * Compiles a schema, once for each schema object. `described` says in the error which one it is.
 *
 * @throws {ProreusError} `PRO_SCHEMA_INVALID` when the API server would not accept the schema.
 */
export function compileSchema(schema: StructuralSchema, described?: string): CompiledSchema {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const problems = checkStructural(schema)
  if (problems.length > 0) {
    throw new ProreusError(
      'PRO_SCHEMA_INVALID',
      `The schema${described === undefined ? '' : ` ${described}`} is not one that a CustomResourceDefinition may have: ${problems.map(formatFieldError).join('; ')}.`,
    )
  }
  const result = createCompiledSchema(schema)
  compiled.set(schema, result)
  return result
}

function createCompiledSchema(schema: StructuralSchema): CompiledSchema {
  const root = buildRootNode(schema)
  const prunable = { ...root, embeddedResource: true }
  const hasResources = holdsResources(root)
  const hasBuiltins = holdsBuiltins(root)
  const pruneObject: CompiledSchema['prune'] = (object) => {
    const { value, unknown } = prune(prunable, object)
    const sorted = unknown.length > 1 ? unknown.toSorted() : unknown
    if (!hasResources) return { object: value, unknown: sorted }
    const coerced = coerceResources(root, value)
    const malformed = coerced.error === undefined ? {} : { malformed: coerced.error }
    return { object: coerced.value, unknown: [...sorted, ...coerced.unknown], ...malformed }
  }
  const validateStructure = structureCheck(root)
  const rules = compileRules(schema)
  const validateRules: CompiledSchema['validateRules'] = (object, oldObject, found, warn) => {
    if (rules === undefined) return nothingWrong
    return found.some(({ reason }) => blocking.has(reason)) ? [rulesNotChecked] : rules.evaluate(object, oldObject, warn)
  }
  return Object.freeze({
    schema,
    prune: pruneObject,
    unknownFields: (object, limit = Infinity) => (hasBuiltins ? unknownFields(root, object, limit) : noFields),
    convert: (object, dropped) => {
      const pruned = pruneObject(object)
      if (pruned.unknown.length > 0) dropped?.(pruned.unknown)
      return dropNulls(root, pruned.object) as JsonObject
    },
    default: (object) => applyDefaults(root, object) as JsonObject,
    validateStructure,
    validateStatus: statusCheck(root),
    validateRules,
    validate: (object, oldObject) => {
      const found = validateStructure(object, oldObject)
      if (rules === undefined) return found
      const broken = validateRules(object, oldObject, found)
      return found.length === 0 ? broken : [...found, ...broken]
    },
  } satisfies CompiledSchema)
}

/** Compiling for ajv is the dear part, and a process that only reads never needs it: it happens with the first value. */
function structureCheck(node: SchemaNode, field = ''): (value: JsonValue, oldValue?: JsonValue) => readonly FieldError[] {
  let check: ValidateFunction | undefined
  return (value, oldValue) => {
    check ??= compileCheck(node)
    return check(value) ? nothingWrong : explainRefusal(node, check.errors?.[0], value, oldValue, field)
  }
}

function statusCheck(root: SchemaNode): CompiledSchema['validateStatus'] {
  const node = root.properties.get('status')
  if (node === undefined) return () => nothingWrong
  const check = structureCheck(node, 'status')
  return ({ status }, oldObject) => (status === undefined ? nothingWrong : check(status, oldObject?.status))
}
