/**
 * Validates an expression after the type check (`cel-go/cel: validator.go`). Finds two kinds of errors: list and map literals with mixed
 * types, and function calls with a constant argument that makes every such call fail.
 */
import type { Call, Expr } from '../syntax/ast.ts'
import { childrenOf } from '../syntax/ast.ts'
import type { Checked } from '../plan/checked.ts'
import type { Overload } from '../library/declarations.ts'
import { CelError } from '../types/errors.ts'
import type { Issue } from '../syntax/issues.ts'
import type { ClauseKind } from '../library/format-text.ts'
import { clauseProblem, readFormat } from '../library/format-text.ts'
import { isPattern } from '../library/regular-expressions.ts'
import type { Type } from '../types/types.ts'
import { dynType, formatType, sameType, unwrapOptional } from '../types/types.ts'
import type { Value } from '../types/values.ts'

export function literalIssues(checked: Checked): Issue[] {
  const issues: Issue[] = []
  const visit = (expr: Expr, mixed: boolean): void => {
    if (expr.kind === 'call') issues.push(...callIssues(checked, expr))
    else if (!mixed) issues.push(...mixtureIssues(checked, expr))
    // cel-go allows mixed types in the argument list of `format()`.
    const isFormat = expr.kind === 'call' && expr.name === 'format'
    for (const child of childrenOf(expr)) visit(child, mixed || isFormat)
  }
  visit(checked.expr, false)
  return issues
}

/**
 * Each key is the name of a CEL function. Each value is a check of the first argument of a call. The check is used only if this argument is
 * a literal, and returns false if every call of the CEL function with this argument fails.
 */
const literalChecks: Readonly<Record<string, (value: Value, overloads: readonly Overload[]) => boolean>> = {
  duration: isConvertible,
  timestamp: isConvertible,
  matches: (value) => typeof value !== 'string' || isPattern(value),
}

function isConvertible(value: Value, overloads: readonly Overload[]): boolean {
  try {
    for (const { implementation } of overloads) (implementation as ((value: Value) => Value) | undefined)?.(value)
    return true
  } catch (error) {
    if (error instanceof CelError) return false
    throw error
  }
}

function callIssues(checked: Checked, call: Call): Issue[] {
  const [first] = call.args
  const isValid = Object.hasOwn(literalChecks, call.name) ? literalChecks[call.name] : undefined
  if (isValid !== undefined && first?.kind === 'literal' && !isValid(first.value, checked.overloads.get(call) ?? [])) {
    return [{ offset: first.offset, message: `invalid ${call.name} argument` }]
  }
  const { target } = call
  if (call.name !== 'format' || target?.kind !== 'literal' || typeof target.value !== 'string' || first?.kind !== 'list') return []
  return formatIssues(checked, call, target.value, first.elements)
}

const acceptedTypes: Readonly<Record<string, readonly string[]>> = {
  s: ['list', 'map', 'int', 'uint', 'double', 'bool', 'string', 'timestamp', 'bytes', 'duration', 'type', 'null'],
  d: ['int', 'uint'],
  f: ['double', 'string'],
  e: ['double', 'string'],
  b: ['int', 'uint', 'bool'],
  x: ['int', 'uint', 'string', 'bytes'],
  o: ['int', 'uint'],
}

function formatIssues(checked: Checked, call: Call, format: string, args: readonly Expr[]): Issue[] {
  let used = 0
  try {
    for (const part of readFormat(format, args.length)) {
      if (typeof part === 'string') continue
      const arg = args[used]!
      used += 1
      const issue = clauseIssue(checked, part.kind, arg)
      if (issue !== undefined) return [issue]
    }
  } catch (error) {
    if (!(error instanceof CelError)) throw error
    return [{ offset: call.offset, message: error.message }]
  }
  if (args.length <= used) return []
  return [{ offset: call.offset, message: `too many arguments supplied to string.format (expected ${used}, got ${args.length})` }]
}

function clauseIssue(checked: Checked, kind: ClauseKind, arg: Expr): Issue | undefined {
  const type = checked.types.get(arg) ?? dynType
  if (type.kind !== 'dyn' && !acceptedTypes[kind.toLowerCase()]!.includes(type.kind)) {
    return { offset: arg.offset, message: clauseProblem(kind, type.name) }
  }
  if (kind !== 's' || (arg.kind !== 'list' && arg.kind !== 'map')) return undefined
  for (const child of childrenOf(arg)) {
    const issue = clauseIssue(checked, kind, child)
    if (issue !== undefined) return issue
  }
  return undefined
}

/**
 * For a map literal, returns an issue for each key whose type differs from the type of the first key, and for each value whose type differs
 * from the type of the first value. For a list literal, returns at most one issue. The issue is for the first item whose type differs from
 * the type of item 0.
 */
function mixtureIssues(checked: Checked, expr: Expr): Issue[] {
  const typeOf = (element: Expr, optional: boolean): Type => {
    const type = checked.types.get(element) ?? dynType
    return optional ? (unwrapOptional(type) ?? type) : type
  }
  const mismatch = (element: Expr, expected: Type | undefined, type: Type): Issue[] =>
    expected === undefined || sameType(expected, type)
      ? []
      : [{ offset: element.offset, message: `expected type '${formatType(expected)}' but found '${formatType(type)}'` }]
  if (expr.kind === 'list') {
    const types = expr.elements.map((element, index) => typeOf(element, expr.optionals.includes(index)))
    return expr.elements.flatMap((element, index) => mismatch(element, types[0], types[index]!)).slice(0, 1)
  }
  if (expr.kind !== 'map') return []
  const [first] = expr.entries
  const keyType = first === undefined ? undefined : typeOf(first.key, false)
  const valueType = first === undefined ? undefined : typeOf(first.value, first.optional)
  return expr.entries.flatMap(({ key, value, optional }) => [
    ...mismatch(key, keyType, typeOf(key, false)),
    ...mismatch(value, valueType, typeOf(value, optional)),
  ])
}
