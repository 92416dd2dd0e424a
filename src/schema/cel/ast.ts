/** The tree of a CEL expression, after macros were expanded. */
import type { Value } from './values.ts'

/** Every node knows where in the text it stands: the offset of what names it (an operator, a dot, an opening bracket). */
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
  /** `has(operand.field)`. */
  readonly testOnly: boolean
}

export interface Call extends Node {
  readonly kind: 'call'
  readonly name: string
  /** `target.name(args)`. */
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
}

export interface ListLiteral extends Node {
  readonly kind: 'list'
  readonly elements: readonly Expr[]
  /** The indexes of `[?element]`. */
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

/** `Type{field: value}`. No type of Kubernetes' environment can be made so, but the place of the mistake must be told. */
export interface StructLiteral extends Node {
  readonly kind: 'struct'
  readonly typeName: string
  readonly fields: readonly { readonly name: string; readonly value: Expr }[]
}

/** What all macros that go over a list or a map become: a fold. `cel.bind`-like macros are folds over an empty list. */
export interface Comprehension extends Node {
  readonly kind: 'comprehension'
  readonly range: Expr
  readonly variable: string
  /** The second variable: the value, where `variable` is the key or index. */
  readonly variable2: string | undefined
  readonly accumulator: string
  readonly initial: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

export type Expr = Literal | Ident | Select | Call | ListLiteral | MapLiteral | StructLiteral | Comprehension

/** The name that the accumulator of a macro has; no expression can say it. */
export const accumulatorName = '@result'

/** `a.b.c` when the expression is just that. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.testOnly) return undefined
  const prefix = qualifiedName(expr.operand)
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`
}

/** Whether the comprehension only gives a name to a value: all others have the one accumulator. */
export function isBinding({ accumulator }: Comprehension): boolean {
  return accumulator !== accumulatorName
}

/** The expressions directly below one. */
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
