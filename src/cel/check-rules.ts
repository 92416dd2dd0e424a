/**
 * Checks the CEL rules of a CustomResourceDefinition: the expressions must compile, and their estimated cost must be within the limits
 * (`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation: ValidateCustomResourceDefinitionOpenAPISchema`).
 */
import type { FieldError } from '../api/field-error.ts'
import { forbidden, invalid } from '../api/field-error.ts'
import type { StructuralSchema, ValidationRule } from '../api/structural-schema.ts'
import { childPath, indexPath, keyPath } from '../api/field-path.ts'
import type { CompiledRule } from './compile-rule.ts'
import { compileNodeRules } from './compile-rule.ts'
import type { DeclaredType } from './types/declared-type.ts'
import { declareType } from './types/declared-type.ts'
import { maxRequestBytes } from './limits.ts'
import { escapeIdentifier } from './types/escape.ts'
import { definitionLimit, ruleLimit } from './limits.ts'

const greatestCost = 2 ** 64
/** Maximum number of rules that the errors name when the total cost exceeds its limit. The errors name the most expensive rules. */
const maxNamed = 4

/**
 * Returns the errors of all rules in a structural schema, with the messages of kube-apiserver.
 *
 * @param path path of the schema, such as `spec.versions[0].schema.openAPIV3Schema`.
 * @param hasErrors returns true if the schema has other errors at the given path or below it. The rules at this path are then skipped.
 */
export function checkRules(schema: StructuralSchema, path: string, hasErrors: (path: string) => boolean = () => false): FieldError[] {
  const definition = new DefinitionCheck(hasErrors)
  definition.node(schema, path, () => declareType(schema, 'selfType1', true), { cardinality: 1, uncorrelatable: undefined, inScope: false })
  return [...definition.errors, ...definition.totalErrors(path)]
}

interface Context {
  /** Maximum number of times that the schema node can occur in one object; undefined if unbounded. */
  readonly cardinality: number | undefined
  /**
   * Path of the outermost list that contains the schema node and whose `x-kubernetes-list-type` is not `map`; undefined if there is no such
   * list. kube-apiserver cannot find the old value of an item in such a list, so rules within the list must not use oldSelf.
   */
  readonly uncorrelatable: string | undefined
  /** True if an ancestor of the schema node has rules. For all nodes below such an ancestor, CEL types are built. */
  readonly inScope: boolean
}

/** Builds the CEL type of a schema node. The function is called only for nodes with rules, and for the nodes below them. */
type Declare = () => DeclaredType | undefined

class DefinitionCheck {
  readonly errors: FieldError[] = []
  readonly #costs: { path: string; cost: number }[] = []
  readonly #hasErrors: (path: string) => boolean
  #total = 0

  constructor(hasErrors: (path: string) => boolean) {
    this.#hasErrors = hasErrors
  }

  /** Checks the children of a schema node before the node itself, because kube-apiserver lists the errors of the children first. */
  node(schema: StructuralSchema, path: string, declare: Declare, context: Context): void {
    const rules = schema['x-kubernetes-validations'] ?? []
    const inScope = context.inScope || rules.length > 0
    const declared = inScope ? declare() : undefined
    const { items, properties = {}, additionalProperties } = schema
    const cardinality = context.cardinality === undefined ? undefined : times(context.cardinality, maxElements(schema))
    const below = { ...context, cardinality, inScope }
    if (typeof additionalProperties === 'object') {
      this.node(
        additionalProperties,
        childPath(path, 'additionalProperties'),
        () => declared?.element ?? ownType(additionalProperties),
        below,
      )
    }
    for (const [name, child] of Object.entries(properties)) {
      const escaped = escapeIdentifier(name)
      const declareChild: Declare = () => (escaped === undefined ? undefined : declared?.fields?.get(escaped)) ?? ownType(child)
      this.node(child, keyPath(childPath(path, 'properties'), name), declareChild, below)
    }
    if (items !== undefined) {
      const isMap = schema['x-kubernetes-list-type'] === 'map'
      const uncorrelatable = context.uncorrelatable ?? (isMap ? undefined : path)
      this.node(items, childPath(path, 'items'), () => declared?.element ?? ownType(items), { ...below, uncorrelatable })
    }
    if (rules.length === 0 || this.#hasErrors(path)) return
    if (declared === undefined) {
      this.errors.push(missingType(childPath(path, 'x-kubernetes-validations')))
      return
    }
    compileNodeRules(schema, declared).forEach((compiled, index) => {
      this.#rule(compiled, indexPath(childPath(path, 'x-kubernetes-validations'), index), declared, context)
    })
  }

  #rule(compiled: CompiledRule, path: string, declared: DeclaredType, context: Context): void {
    const place = childPath(path, 'rule')
    const { rule } = compiled
    const cardinality = context.cardinality ?? Math.floor(maxRequestBytes / (declared.minSize + 1))
    this.#observe(place, compiled.maxCost * cardinality, 'estimated rule cost')
    if (compiled.problem !== undefined) this.errors.push(invalidRule(place, rule, compiled.problem))
    if (compiled.messageProblem !== undefined) {
      this.errors.push(invalidRule(childPath(path, 'messageExpression'), rule, compiled.messageProblem))
    } else if (compiled.message !== undefined) {
      this.#observe(childPath(path, 'messageExpression'), compiled.messageMaxCost, 'estimated messageExpression cost')
    }
    if (compiled.usesOldSelf && context.uncorrelatable !== undefined) {
      this.errors.push(
        invalid(place, rule.rule, `oldSelf cannot be used on the uncorrelatable portion of the schema within ${context.uncorrelatable}`),
      )
    } else if (!compiled.usesOldSelf && rule.optionalOldSelf !== undefined) {
      this.errors.push(invalid(childPath(path, 'optionalOldSelf'), rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'))
    }
  }

  #observe(path: string, cost: number, what: string): void {
    if (cost > ruleLimit) this.errors.push(forbidden(path, exceeds(what, cost, ruleLimit)))
    this.#total += cost
    // kube-apiserver does not name a rule whose cost is less than 1 % of the total limit.
    if (cost < definitionLimit / 100) return
    this.#costs.push({ path, cost })
    this.#costs.sort((a, b) => b.cost - a.cost)
    this.#costs.length = Math.min(this.#costs.length, maxNamed)
  }

  totalErrors(path: string): FieldError[] {
    if (this.#total <= definitionLimit) return []
    const named = this.#costs.map((expensive) =>
      forbidden(expensive.path, 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'),
    )
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    return [...named, forbidden(path, exceeds(what, this.#total, definitionLimit))]
  }
}

/** Returns the error for a schema node that has rules but no type. */
function missingType(path: string): FieldError {
  const problem =
    'failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations'
  return { path, reason: 'InternalError', message: `Internal error: internal error: ${problem}` }
}

/**
 * Builds the CEL type of a schema node from the schema of this node alone. The function is called if the parent node has no CEL type, or if
 * the CEL type of the parent node does not contain a type for this node.
 */
function ownType(schema: StructuralSchema): DeclaredType | undefined {
  return declareType(schema, 'selfType1')
}

function maxElements({ type, additionalProperties, maxProperties, maxItems }: StructuralSchema): number | undefined {
  if (type === 'array') return maxItems === undefined ? undefined : Math.max(0, maxItems)
  if (type !== 'object' || additionalProperties === undefined) return 1
  return maxProperties === undefined ? undefined : Math.max(0, maxProperties)
}

function times(a: number, b: number | undefined): number | undefined {
  return b === undefined ? undefined : Math.min(greatestCost, a * b)
}

function exceeds(what: string, cost: number, limit: number): string {
  const excess = cost / limit
  const factor = excess > 100 ? 'more than 100x' : excess < 1.5 ? `${excess.toFixed(6)}x` : `${excess.toFixed(1)}x`
  return `${what} exceeds budget by factor of ${factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
}

/**
 * Returns the error for an invalid rule. As in kube-apiserver, the message contains the JSON of Go's struct `apiextensions.ValidationRule`.
 */
function invalidRule(path: string, rule: ValidationRule, problem: string): FieldError {
  const { message = '', messageExpression = '', reason = null, fieldPath = '', optionalOldSelf = null } = rule
  const fields = {
    Rule: rule.rule,
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason,
    FieldPath: fieldPath,
    OptionalOldSelf: optionalOldSelf,
  }
  const text = JSON.stringify(fields).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return { path, reason: 'FieldValueInvalid', message: `Invalid value: ${text}: ${problem}` }
}
