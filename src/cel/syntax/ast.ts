/** Syntax tree of a CEL expression, after macro expansion. */
import type { Value } from '../types/values.ts'

/**
 * A node of the syntax tree. `offset` is the position of the node's token in the source. For example, the token of a call `a + b` is the
 * operator.
 */
interface Node {
  readonly offset: number
}

export interface Literal extends Node {
  readonly kind: 'literal'
  readonly value: Value
}

export interface Ident extends Node {
  readonly kind: 'ident'
  readonly name: string
}

export interface Select extends Node {
  readonly kind: 'select'
  readonly operand: Expr
  readonly field: string
  /** True for the macro `has(operand.field)`. */
  readonly testOnly: boolean
}

export interface Call extends Node {
  readonly kind: 'call'
  readonly name: string
  /** The receiver in `target.name(args)`. */
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
}

export interface ListLiteral extends Node {
  readonly kind: 'list'
  readonly elements: readonly Expr[]
  /** Indexes of the optional elements, which are written with a question mark: `[?element]`. */
  readonly optionals: readonly number[]
}

export interface MapEntry {
  readonly key: Expr
  readonly value: Expr
  readonly optional: boolean
}

export interface MapLiteral extends Node {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

/**
 * The literal `Type{field: value}`. Kubernetes' CEL environment has no type that such a literal can construct, so every such literal is an
 * error. The syntax tree contains the literal only so that the error message can contain the position of the literal.
 */
export interface StructLiteral extends Node {
  readonly kind: 'struct'
  readonly typeName: string
  readonly fields: readonly { readonly name: string; readonly value: Expr }[]
}

/**
 * A fold over a list or a map. All comprehension macros expand to folds. The expansions of `optMap`, `optFlatMap` and `sortBy` contain a
 * fold over an empty list. Such a fold only binds a variable to a value, as cel-go's `cel.bind` does.
 */
export interface Comprehension extends Node {
  readonly kind: 'comprehension'
  readonly range: Expr
  readonly variable: string
  /** The variable for the value, if the macro has two variables. In this case, `variable` contains the index or the key. */
  readonly variable2: string | undefined
  readonly accumulator: string
  readonly initial: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

export type Expr = Literal | Ident | Select | Call | ListLiteral | MapLiteral | StructLiteral | Comprehension

/** Name of the accumulator in expanded macros. The name is not a valid identifier, so no expression can refer to it. */
export const accumulatorName = '@result'

/** Returns the dotted name, such as `a.b.c`, if the expression consists only of identifiers and selections; otherwise undefined. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.testOnly) return undefined
  const prefix = qualifiedName(expr.operand)
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`
}

/**
 * True for a fold that only binds a variable to a value (`cel-go/checker: cost.go, isBind`). The accumulator of such a fold has the name of
 * the variable. The accumulator of any other fold has the name `accumulatorName`.
 */
export function isBinding({ accumulator }: Comprehension): boolean {
  return accumulator !== accumulatorName
}

/** Returns the direct subexpressions of an expression. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
      return []
    case 'select':
      return [expr.operand]
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args]
    case 'list':
      return expr.elements
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return expr.fields.map(({ value }) => value)
    case 'comprehension':
      return [expr.range, expr.initial, expr.condition, expr.step, expr.result]
  }
}
