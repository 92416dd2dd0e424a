/** Compiles a structural schema to functions that prune, default and validate objects. */
import type { ValidateFunction } from 'ajv'
import { ProreusError } from '../api/errors.ts'
import type { FieldError, FieldErrorReason } from '../api/field-error.ts'
import { formatFieldError, invalid } from '../api/field-error.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { compileRules } from '../cel/rules.ts'
import { coerceResources, holdsResources } from './decode-embedded-resource.ts'
import { applyDefaults, dropNulls } from './default.ts'
import type { SchemaNode } from './node.ts'
import { buildRootNode } from './node.ts'
import { prune } from './prune.ts'
import { explainRefusal } from './ajv-errors.ts'
import { checkStructural } from './structural/check-schema.ts'
import { compileCheck } from './to-ajv.ts'
import { holdsBuiltins, unknownFields } from './unknown-fields.ts'

export interface CompiledSchema {
  readonly schema: StructuralSchema
  /**
   * Removes fields that the schema does not specify, except apiVersion, kind and metadata. Decodes the metadata of embedded resources. The
   * result has these fields:
   *
   * - `object`: the pruned object; the same object if nothing changed.
   * - `unknown`: the sorted paths of the removed fields, e.g. `spec.list[0].bar`, followed by the sorted paths of unknown fields in the
   *   metadata of embedded resources.
   * - `malformed`: the first error in an embedded resource that kube-apiserver cannot decode; absent if kube-apiserver can decode all
   *   embedded resources.
   */
  prune(object: JsonObject): { object: JsonObject; unknown: readonly string[]; malformed?: FieldError }
  /**
   * Drops null fields that are not nullable and have no default, and applies defaults. Returns the same object if nothing changed. Objects
   * share the default values, which are deeply frozen.
   */
  default(object: JsonObject): JsonObject
  /**
   * Returns the sorted paths of unknown fields inside built-in types (`Type.Builtin`), at most `limit` of them (default: all).
   * kube-apiserver keeps these fields, because the schema of the CRD does not describe the built-in type.
   */
  unknownFields(object: JsonObject, limit?: number): readonly string[]
  /**
   * Prunes an object that was converted from another version. If the value of a field is null, and the field is not nullable and has no
   * default, the field is removed. Applies no defaults.
   *
   * @param dropped receives the paths of the unknown fields, in the order and format of `unknown` in the result of `prune`. Not called if
   *   there are no unknown fields.
   */
  convert(object: JsonObject, dropped?: (paths: readonly string[]) => void): JsonObject
  /**
   * Returns the errors of the object's structure, followed by the errors of its rules. The object's metadata is not validated (see
   * `validateObjectMeta`).
   *
   * @param oldObject the object before an update. If the update leaves a value unchanged, most errors of this value are omitted (see
   *   `Explanation` for the structure, and `validateRules` for the rules).
   */
  validate(object: JsonObject, oldObject?: JsonObject): readonly FieldError[]
  /** Validates the structure of the object. Rules are not evaluated. */
  validateStructure(object: JsonObject, oldObject?: JsonObject): readonly FieldError[]
  /**
   * Validates the structure of the status, for writes to the status subresource. Returns no errors if the object has no status or the
   * schema does not specify a status.
   */
  validateStatus(object: JsonObject, oldObject?: JsonObject): readonly FieldError[]
  /**
   * Evaluates the rules (`x-kubernetes-validations`), and returns their errors.
   *
   * @param found the errors of the structure. If one of these errors has a reason in `blocking`, no rule is evaluated, and the result is a
   *   single error: rules were not checked.
   * @param warn receives the errors of rules without `oldSelf`, if the update leaves the value unchanged. These errors are not returned.
   */
  validateRules(
    object: JsonObject,
    oldObject: JsonObject | undefined,
    found: readonly FieldError[],
    warn?: (warning: FieldError) => void,
  ): readonly FieldError[]
}

const compiled = new WeakMap<StructuralSchema, CompiledSchema>()
const noErrors: readonly FieldError[] = Object.freeze([])
const noFields: readonly string[] = Object.freeze([])

/**
 * If the structure of an object has an error with one of these reasons, no rule is evaluated
 * (`k8s.io/apiextensions-apiserver/pkg/registry/customresource: hasBlockingErr`).
 */
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
 * Compiles a schema. The result is cached for each schema object. `described` names the schema in the error message.
 *
 * @throws {ProreusError} `PRO_SCHEMA_INVALID` when kube-apiserver would reject the schema.
 */
export function compileSchema(schema: StructuralSchema, described?: string): CompiledSchema {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const problems = checkStructural(schema)
  if (problems.length > 0) {
    throw new ProreusError(
      'PRO_SCHEMA_INVALID',
      `The schema${described === undefined ? '' : ` ${described}`} is invalid for a CustomResourceDefinition: ${problems.map(formatFieldError).join('; ')}.`,
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
    if (rules === undefined) return noErrors
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

/** Compiles the ajv check on first use, because compiling is expensive and many processes never validate a value of this schema. */
function structureCheck(node: SchemaNode, field = ''): (value: JsonValue, oldValue?: JsonValue) => readonly FieldError[] {
  let check: ValidateFunction | undefined
  return (value, oldValue) => {
    check ??= compileCheck(node)
    return check(value) ? noErrors : explainRefusal(node, check.errors?.[0], value, oldValue, field)
  }
}

function statusCheck(root: SchemaNode): CompiledSchema['validateStatus'] {
  const node = root.properties.get('status')
  if (node === undefined) return () => noErrors
  const check = structureCheck(node, 'status')
  return ({ status }, oldObject) => (status === undefined ? noErrors : check(status, oldObject?.status))
}
