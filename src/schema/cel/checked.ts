/** What an expression is checked against, and what is known of it after that. */
import type { Expr } from './ast.ts'
import type { Overload } from './declarations.ts'
import type { Type } from './types.ts'

export interface Declarations {
  readonly variables: ReadonlyMap<string, Type>
  readonly functions: ReadonlyMap<string, readonly Overload[]>
}

/** What is known of an expression after the check. */
export interface Checked {
  readonly expr: Expr
  readonly types: ReadonlyMap<Expr, Type>
  /** The overloads that a call may mean: several when arguments are dyn. */
  readonly overloads: ReadonlyMap<Expr, readonly Overload[]>
  /** Calls whose target is the first half of the function's name, as in `optional.of(x)`, and what that name is. */
  readonly functionNames: ReadonlyMap<Expr, string>
  /** Identifiers and selections that name a type. */
  readonly typeNames: ReadonlyMap<Expr, Type>
  /** The variables that are used, local ones left out. */
  readonly used: ReadonlySet<string>
}
