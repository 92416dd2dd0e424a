/** Syntax tree of a CEL expression, after macro expansion. */
import type { Value } from '../types/values.ts'

/** Every node records the offset in the source of the token that names it: an operator, a dot, an opening bracket. */
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
  /** Indexes of the elements that are written `[?element]`. */
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
 * The literal `Type{field: value}`. Kubernetes' environment has no type that can be constructed in this way; the node exists only to report
 * the error at its place.
 */
export interface StructLiteral extends Node {
  readonly kind: 'struct'
  readonly typeName: string
  readonly fields: readonly { readonly name: string; readonly value: Expr }[]
}

/**
 * A fold over a list or a map: the expansion of all comprehension macros. `optMap` and `sortBy` expand to a fold over an empty list, which
 * only binds a variable, as `cel.bind` does.
 */
export interface Comprehension extends Node {
  readonly kind: 'comprehension'
  readonly range: Expr
  readonly variable: string
  /** The variable for the value; `variable` then holds the key or index. */
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

/** Returns `a.b.c` if the expression consists only of identifiers and selections. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.testOnly) return undefined
  const prefix = qualifiedName(expr.operand)
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`
}

/** True for a fold that only binds a value to a name (`cel-go/checker: cost.go, isBind`): all other folds have the same accumulator. */
export function isBinding({ accumulator }: Comprehension): boolean {
  return accumulator !== accumulatorName
}

/** Returns the direct subexpressions. */
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
