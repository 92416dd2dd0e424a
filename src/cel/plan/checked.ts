/** The output of the type checker, which is the input of the planner. */
import type { Expr } from '../syntax/ast.ts'
import type { Overload } from '../library/declarations.ts'
import type { Type } from '../types/types.ts'

export interface Declarations {
  readonly variables: ReadonlyMap<string, Type>
  readonly functions: ReadonlyMap<string, readonly Overload[]>
}

/** Result of the type check of one expression. */
export interface Checked {
  readonly expr: Expr
  readonly types: ReadonlyMap<Expr, Type>
  /** The overloads that match the argument types of each call. Several overloads can match if the type of an argument is dyn. */
  readonly overloads: ReadonlyMap<Expr, readonly Overload[]>
  /** Function names of calls whose target is a namespace. In `optional.of(x)`, the target is `optional`, and the name is `optional.of`. */
  readonly functionNames: ReadonlyMap<Expr, string>
  /** Identifiers and selections that denote a type. */
  readonly typeNames: ReadonlyMap<Expr, Type>
  /** The declared variables that the expression refers to. Local variables of macros are not included. */
  readonly used: ReadonlySet<string>
}
