/**
 * `x-kubernetes-validations`: compiles the rules of a schema once and evaluates them for each object
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel: Validator`).
 */
import type { FieldError } from '../api/field-error.ts'
import { duplicate, forbidden, invalid, required } from '../api/field-error.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { getOwn, isObject } from '../api/json.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { childPath, fieldChildPath, fieldOf, indexPath, keyPath } from '../api/field-path.ts'
import type { CompiledRule } from './compile-rule.ts'
import { compileNodeRules, ruleName } from './compile-rule.ts'
import type { Ratchet } from './correlation.ts'
import { Correlation, isUnchanged, KeyedItems, noRatchet, ratchetField, ratchetItem } from './correlation.ts'
import type { DataType } from './types/data-type.ts'
import { dataType } from './types/data-type.ts'
import type { DeclaredType } from './types/declared-type.ts'
import { declareType } from './types/declared-type.ts'
import type { CompiledExpression } from './environment.ts'
import { CelError, CostLimitExceeded } from './types/errors.ts'
import { escapeIdentifier } from './types/escape.ts'
import { optionalOfError } from './types/plain-optional.ts'
import { trimSpace } from './types/trim-space.ts'
import type { Value } from './types/values.ts'
import { none, OptionalValue } from './types/values.ts'
import { maxMessageBytes, objectBudget } from './limits.ts'

export { checkRules } from './check-rules.ts'

export interface CompiledRules {
  /**
   * Returns the field errors of an object. Never throws, whatever the object contains.
   *
   * @param oldObject the object before an update; undefined for a new object. For a value that `oldObject` lacks, rules that use `oldSelf`
   *   are skipped, unless `optionalOldSelf` is true.
   * @param warn receives the errors of rules without `oldSelf` for values that the update leaves unchanged. The result does not contain
   *   these errors.
   */
  evaluate(object: JsonObject, oldObject?: JsonObject, warn?: (warning: FieldError) => void): readonly FieldError[]
  /**
   * Returns the field errors of a default in the schema. The rules are evaluated up to two times:
   *
   * - In the first evaluation, `self` and `oldSelf` are both the default, as for a value that an update leaves unchanged.
   * - If the first evaluation returns no errors, the rules are evaluated again without `oldSelf`, as for a new value.
   *
   * @param path path of the default.
   * @param budget cost budget of the rules.
   * @returns the errors and the remaining budget; the remaining budget is negative if the budget is exhausted.
   */
  evaluateDefault(value: JsonValue, path: string, budget?: number): { readonly errors: readonly FieldError[]; readonly left: number }
}

/**
 * Name of the root type in messages. The name in kube-apiserver does not end in 1, but in a number that is computed from the current time
 * (`generateUniqueSelfTypeName`).
 */
const selfName = 'selfType1'

const missingTypeProblem = 'rule compiler initialization error: failed to convert to declType for CEL validation rules'

/** A schema node that has rules, or that has a descendant with rules. No `RuleNode` exists for other schema nodes. */
interface RuleNode {
  readonly schema: StructuralSchema
  readonly rules: readonly CompiledRule[]
  /** True if the schema node has rules but no type. Its rules cannot be compiled. */
  readonly untyped: boolean
  readonly data: DataType
  readonly items: RuleNode | undefined
  readonly values: RuleNode | undefined
  readonly fields: ReadonlyMap<string, RuleNode>
}

const noErrors: readonly FieldError[] = Object.freeze([])

/**
 * Compiles all rules of a structural schema; undefined if the schema has no rules. `isRoot` is true for the schema of a whole Kubernetes
 * object.
 */
export function compileRules(schema: StructuralSchema, isRoot = true): CompiledRules | undefined {
  const root = buildNode(schema, declareType(schema, selfName, isRoot), isRoot)
  if (root === undefined) return undefined
  return Object.freeze({
    evaluate: (object: JsonObject, oldObject?: JsonObject, warn?: (warning: FieldError) => void) => {
      const evaluation = new Evaluation(warn)
      const ratchet =
        oldObject === undefined ? noRatchet : { current: new Correlation(schema, object, oldObject), nearestParent: undefined }
      evaluation.node(root, '', object, oldObject, ratchet)
      return evaluation.errors.length === 0 ? noErrors : evaluation.errors
    },
    evaluateDefault: (value: JsonValue, path: string, budget = objectBudget) => {
      const unchanged = new Evaluation(undefined, budget)
      const unchangedLeft = unchanged.node(root, path, value, value, noRatchet) ? unchanged.left : -1
      if (unchanged.errors.length > 0) return { errors: unchanged.errors, left: unchangedLeft }
      const created = new Evaluation(undefined, budget)
      const createdLeft = created.node(root, path, value, undefined, noRatchet) ? created.left : -1
      return { errors: created.errors, left: Math.min(unchangedLeft, createdLeft) }
    },
  })
}

function buildNode(schema: StructuralSchema, declared: DeclaredType | undefined, isRoot: boolean): RuleNode | undefined {
  const rules = declared === undefined ? [] : compileNodeRules(schema, declared)
  const items = schema.items === undefined ? undefined : buildNode(schema.items, declared?.element, isEmbedded(schema.items))
  const additional = schema.additionalProperties
  const values = typeof additional === 'object' ? buildNode(additional, declared?.element, isEmbedded(additional)) : undefined
  const fields = new Map<string, RuleNode>()
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    const escaped = escapeIdentifier(name)
    const type = escaped === undefined ? declareType(child, `${selfName}.${name}`) : declared?.fields?.get(escaped)
    const node = type === undefined ? undefined : buildNode(child, type, isEmbedded(child))
    if (node !== undefined) fields.set(name, node)
  }
  const untyped = declared === undefined && (schema['x-kubernetes-validations'] ?? []).length > 0
  if (!untyped && rules.length === 0 && items === undefined && values === undefined && fields.size === 0) return undefined
  return { schema, rules, untyped, data: dataType(schema, isRoot), items, values, fields }
}

function isEmbedded(schema: StructuralSchema): boolean {
  return schema['x-kubernetes-embedded-resource'] === true
}

/** The evaluation of one object, with the remaining cost budget and the errors found. */
class Evaluation {
  readonly errors: FieldError[] = []
  readonly #warn: ((warning: FieldError) => void) | undefined
  #budget: number

  constructor(warn: ((warning: FieldError) => void) | undefined, budget = objectBudget) {
    this.#warn = warn
    this.#budget = budget
  }

  get left(): number {
    return this.#budget
  }

  /**
   * Evaluates the rules of a schema node and of its descendants. Returns false when a cost limit has been exceeded. The caller must then
   * evaluate no further rules.
   */
  node(node: RuleNode, path: string, value: JsonValue | undefined, old: JsonValue | undefined, ratchet: Ratchet): boolean {
    if (value === undefined || value === null) return true
    if (node.untyped) this.errors.push(invalid(fieldOf(path), node.schema.type ?? '', missingTypeProblem))
    if (node.rules.length > 0 && !this.#rules(node, path, value, old ?? undefined, ratchet)) return false
    if (Array.isArray(value)) return node.items === undefined || this.#items(node, node.items, path, value, old, ratchet)
    return !isObject(value) || this.#fields(node, path, value, isObject(old) ? old : {}, ratchet)
  }

  #items(node: RuleNode, items: RuleNode, path: string, list: readonly JsonValue[], old: JsonValue | undefined, ratchet: Ratchet): boolean {
    const oldItems = new KeyedItems(node.schema, Array.isArray(old) ? old : [])
    return list.every((item, index) => this.node(items, indexPath(path, index), item, oldItems.find(item), ratchetItem(ratchet, index)))
  }

  #fields(node: RuleNode, path: string, object: JsonObject, old: JsonObject, ratchet: Ratchet): boolean {
    if (node.values !== undefined) {
      for (const key of Object.keys(object)) {
        if (!this.node(node.values, keyPath(path, key), object[key], getOwn(old, key), ratchetField(ratchet, key))) return false
      }
    }
    for (const [name, child] of node.fields) {
      const value = getOwn(object, name)
      if (value !== undefined && !this.node(child, fieldChildPath(path, name), value, getOwn(old, name), ratchetField(ratchet, name)))
        return false
    }
    return true
  }

  #rules(node: RuleNode, path: string, value: JsonValue, old: JsonValue | undefined, ratchet: Ratchet): boolean {
    const type = node.schema.type ?? ''
    const place = fieldOf(path)
    if (this.#budget <= 0) {
      this.errors.push(invalid(place, type, 'validation failed due to running out of cost budget, no further validation rules will be run'))
      return false
    }
    const self = convert(node.data, value)
    const oldSelf = old === undefined ? undefined : convert(node.data, old)
    // If no rule of the schema node uses oldSelf, kube-apiserver leaves the variable undefined, and messageExpression cannot read it.
    const plainOld = node.rules.some(({ usesOldSelf }) => usesOldSelf) ? oldSelf : undefined
    for (const compiled of node.rules) {
      if (compiled.problem !== undefined) this.errors.push(invalid(place, type, `rule compile error: ${compiled.problem}`))
      if (compiled.expression === undefined) continue
      const optional = compiled.rule.optionalOldSelf === true
      if (compiled.usesOldSelf && oldSelf === undefined && !optional) continue
      const variables = optional ? [self, oldSelf === undefined ? none : optionalOf(oldSelf)] : [self, oldSelf]
      if (!this.#rule(compiled, compiled.expression, variables, { path, type, value, ratchet, plain: [self, plainOld] })) return false
    }
    return true
  }

  #rule(compiled: CompiledRule, expression: CompiledExpression, variables: Variable[], at: Place): boolean {
    const { rule } = compiled
    const { value, error, cost } = run(expression, variables)
    const place = fieldOf(at.path)
    if (cost > this.#budget) {
      this.errors.push(
        invalid(place, at.type, 'validation failed due to running out of cost budget, no further validation rules will be run'),
      )
      return false
    }
    this.#budget -= cost
    if (error !== undefined) {
      this.errors.push(invalid(place, at.type, describeError(error, ruleName(rule))))
      return !(error instanceof CostLimitExceeded)
    }
    if (value === true) return true
    const field = compiled.fieldPath === undefined ? place : childPath(at.path, compiled.fieldPath)
    const report = (found: FieldError): void => {
      if (!compiled.usesOldSelf && isUnchanged(at.ratchet)) this.#warn?.(found)
      else this.errors.push(found)
    }
    const message = compiled.message === undefined ? undefined : this.#message(compiled.message, at.plain)
    if (message?.fatal !== undefined) {
      report(invalid(field, at.type, message.fatal))
      return false
    }
    report(errorFor(rule.reason, field, at, message?.text ?? defaultMessage(rule.rule, rule.message)))
    return true
  }

  /**
   * Evaluates messageExpression, and returns the message as `text`. If the evaluation exceeds a cost limit, returns an error as `fatal`;
   * the caller then evaluates no further rules. If the evaluation fails for another reason, or if the value is not a valid message, returns
   * `{}`.
   */
  #message(expression: CompiledExpression, variables: Variable[]): { text?: string; fatal?: string } {
    const { value, error, cost } = run(expression, variables)
    if (cost > this.#budget) {
      return { fatal: 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run' }
    }
    if (error instanceof CostLimitExceeded) {
      const source = JSON.stringify(expression.source)
      return { fatal: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${source}` }
    }
    this.#budget -= cost
    const text = typeof value === 'string' ? trimSpace(value) : ''
    return text === '' || text.includes('\n') || Buffer.byteLength(text) > maxMessageBytes ? {} : { text }
  }
}

/** A value for which rules are evaluated. */
interface Place {
  readonly path: string
  readonly type: string
  readonly value: JsonValue
  readonly ratchet: Ratchet
  /** The variables for messageExpression. Here, oldSelf is the plain value and never an optional. */
  readonly plain: Variable[]
}

/**
 * The value of a variable. If the data of the variable does not match the schema, the value is a `CelError`, which is thrown when an
 * expression reads the variable.
 */
type Variable = Value | CelError | undefined

function convert(type: DataType, value: JsonValue): Value | CelError {
  try {
    return type(value)
  } catch (error) {
    if (error instanceof CelError) return error
    throw error
  }
}

function optionalOf(value: Value | CelError): OptionalValue {
  return value instanceof CelError ? optionalOfError(value) : new OptionalValue(value)
}

function run(expression: CompiledExpression, variables: Variable[]): ReturnType<CompiledExpression['evaluate']> {
  if (!variables.some((variable) => variable instanceof CelError)) return expression.evaluate(variables as (Value | undefined)[])
  const failures = variables.map((variable) => (variable instanceof CelError ? variable : undefined))
  return expression.evaluate(
    variables.map((variable) => (variable instanceof CelError ? undefined : variable)),
    failures,
  )
}

function describeError(error: CelError | CostLimitExceeded, rule: string): string {
  if (error instanceof CostLimitExceeded) {
    return `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${rule}`
  }
  return error.message.startsWith('no such overload')
    ? `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`
    : `${error.message} evaluating rule: ${rule}`
}

function defaultMessage(rule: string, message: string | undefined): string {
  return message === undefined || message === '' ? `failed rule: ${trimSpace(rule)}` : trimSpace(message)
}

function errorFor(reason: string | undefined, path: string, at: Place, detail: string): FieldError {
  const found = errorWith(reason, path, at, detail)
  // If the detail is empty, Go's message does not end in a colon.
  return detail === '' ? { ...found, message: found.message.replace(/: $/, '') } : found
}

/** Returns a field error. For the reasons Invalid and Duplicate, the message contains the value if it is neither an object nor a list. */
function errorWith(reason: string | undefined, path: string, { type, value }: Place, detail: string): FieldError {
  const isCompound = type === 'object' || type === 'array'
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(path, detail)
    case 'FieldValueRequired':
      return required(path, detail)
    case 'FieldValueDuplicate':
      return isCompound ? { path, reason: 'FieldValueDuplicate', message: 'Duplicate value' } : duplicate(path, value)
    default:
      return isCompound ? { path, reason: 'FieldValueInvalid', message: `Invalid value: ${detail}` } : invalid(path, value, detail)
  }
}
