/** Input and result of the type checker. */
import type { Expr } from '../syntax/ast.ts'
import type { Overload } from '../library/declarations.ts'
import type { Type } from '../types/types.ts'

export interface Declarations {
  readonly variables: ReadonlyMap<string, Type>
  readonly functions: ReadonlyMap<string, readonly Overload[]>
}

/** Result of the type check. */
export interface Checked {
  readonly expr: Expr
  readonly types: ReadonlyMap<Expr, Type>
  /** The candidate overloads of each call: several if arguments are dyn. */
  readonly overloads: ReadonlyMap<Expr, readonly Overload[]>
  /** Full function names of calls whose target is a namespace, such as `optional.of(x)`. */
  readonly functionNames: ReadonlyMap<Expr, string>
  /** Identifiers and selections that denote a type. */
  readonly typeNames: ReadonlyMap<Expr, Type>
  /** The declared variables that the expression refers to, without local ones. */
  readonly used: ReadonlySet<string>
}
