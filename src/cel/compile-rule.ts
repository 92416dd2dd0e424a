/** Compiles the expression and the messageExpression of a rule (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel: compileRule`). */
import type { StructuralSchema, ValidationRule } from '../api/structural-schema.ts'
import type { DeclaredType } from './types/declared-type.ts'
import type { CompiledExpression } from './environment.ts'
import { compileExpression } from './environment.ts'
import { estimateCost } from './check/estimate.ts'
import { normalizeFieldPath } from './field-path.ts'
import { trimSpace } from './types/trim-space.ts'
import type { Type } from './types/types.ts'
import { optionalType } from './types/types.ts'

export interface CompiledRule {
  readonly rule: ValidationRule
  /** The compiled expression of the `rule` field; undefined when the expression is invalid or blank. */
  readonly expression: CompiledExpression | undefined
  readonly problem: string | undefined
  readonly usesOldSelf: boolean
  /** Estimated maximum cost of one evaluation of `expression`. */
  readonly maxCost: number
  readonly message: CompiledExpression | undefined
  readonly messageProblem: string | undefined
  readonly messageMaxCost: number
  /** The `fieldPath` in the notation of field errors, relative to the schema node that has the rule. */
  readonly fieldPath: string | undefined
}

/** Compiles the rules of one schema node. `declared` is the CEL type of the node. */
export function compileNodeRules(schema: StructuralSchema, declared: DeclaredType): CompiledRule[] {
  const rules = schema['x-kubernetes-validations'] ?? []
  if (rules.length === 0) return []
  const node = { schema, declared, mayBeNull: holdsNulls(schema) }
  return rules.map((rule) => compileRule(rule, node))
}

/** The schema node to which the rules belong, with its CEL type. */
interface RuledNode {
  readonly schema: StructuralSchema
  readonly declared: DeclaredType
  readonly mayBeNull: boolean
}

/**
 * Returns true when the schema allows null for items of lists or values of maps. Nullable fields do not count, because CEL treats a field
 * that is null as absent.
 */
function holdsNulls({ items, additionalProperties, properties = {} }: StructuralSchema): boolean {
  const entries = typeof additionalProperties === 'object' ? additionalProperties : items
  if (entries?.nullable === true || (entries !== undefined && holdsNulls(entries))) return true
  return Object.values(properties).some(holdsNulls)
}

function compileRule(rule: ValidationRule, node: RuledNode): CompiledRule {
  const { schema, declared } = node
  const oldSelf = rule.optionalOldSelf === true ? optionalType(declared.type) : declared.type
  const variables = { self: declared.type, oldSelf }
  const main = compileTyped(rule.rule, variables, 'bool', node)
  const isUsable = main.expression !== undefined
  const isBlankMessage = rule.messageExpression !== undefined && rule.messageExpression !== '' && trimSpace(rule.messageExpression) === ''
  const message =
    isUsable && rule.messageExpression !== undefined && rule.messageExpression !== ''
      ? compileTyped(rule.messageExpression, variables, 'string', node)
      : undefined
  return {
    rule,
    expression: main.expression,
    problem: main.problem === 'wrong type' ? 'cel expression must evaluate to a bool' : main.problem,
    usesOldSelf: main.usesOldSelf,
    maxCost: main.maxCost,
    message: message?.expression,
    messageProblem:
      message?.problem === 'wrong type'
        ? 'messageExpression must evaluate to a string'
        : message?.problem === undefined
          ? undefined
          : `messageExpression ${message.problem}`.replace('messageExpression program', 'messageExpression'),
    messageMaxCost: message?.maxCost ?? 0,
    // If messageExpression is blank or does not compile, kube-apiserver ignores fieldPath, because its `compileRule` returns before it
    // reads fieldPath.
    fieldPath:
      isUsable && !isBlankMessage && message?.problem === undefined && rule.fieldPath !== undefined
        ? normalizeFieldPath(rule.fieldPath, schema)
        : undefined,
  }
}

interface Typed {
  readonly expression: CompiledExpression | undefined
  readonly problem: string | undefined
  readonly maxCost: number
  readonly usesOldSelf: boolean
}

const untyped: Typed = { expression: undefined, problem: undefined, maxCost: 0, usesOldSelf: false }

function compileTyped(source: string, variables: Readonly<Record<string, Type>>, expected: string, node: RuledNode): Typed {
  const { declared, mayBeNull } = node
  if (trimSpace(source) === '') return untyped
  const compiled = compileExpression(source, variables, mayBeNull)
  const checked = 'problem' in compiled ? compiled.checked : compiled.expression.checked
  if (checked !== undefined && checked.types.get(checked.expr)?.kind !== expected) return { ...untyped, problem: 'wrong type' }
  const usesOldSelf = checked?.used.has('oldSelf') === true
  if ('problem' in compiled) return { ...untyped, problem: renameRootType(compiled.problem, declared.type), usesOldSelf }
  const { expression } = compiled
  return { expression, problem: undefined, maxCost: estimateCost(expression.checked, declared).max, usesOldSelf }
}

/**
 * Replaces the name of a schema node's type with `selfType1` in a message. An example of such a name is `selfType1.spec`. kube-apiserver
 * compiles the rules of each schema node as if the node were the root of the schema. In the messages of kube-apiserver, the name of the
 * node's type is therefore `selfType1`.
 */
function renameRootType(problem: string, type: Type): string {
  const name = rootName(type)
  return name === '' ? problem : problem.replaceAll(name, 'selfType1')
}

function rootName({ kind, name, parameters: [first, second] }: Type): string {
  if (kind === 'struct') return name
  if (kind === 'list') return rootName(first!).replace(/\.@idx$/, '')
  return kind === 'map' ? rootName(second!).replace(/\.@elem$/, '') : ''
}

/** Returns the text that identifies a rule in error messages: its message if it has one, otherwise its expression. */
export function ruleName({ rule, message }: ValidationRule): string {
  return message !== undefined && message !== '' ? trimSpace(message) : trimSpace(rule)
}
