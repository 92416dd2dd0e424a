/**
 * Estimates the cost of an expression before the evaluation. The estimate uses the maximum sizes that the schema allows (`cel-go/checker:
 * cost.go`).
 */
import type { Call, Comprehension, Expr } from '../syntax/ast.ts'
import { accumulatorName, isBinding } from '../syntax/ast.ts'
import type { Checked } from '../plan/checked.ts'
import type { DeclaredType } from '../types/declared-type.ts'
import { estimateCall } from './estimate-call.ts'
import type { Range } from '../types/range.ts'
import { add, fixed, multiply, union, unknown } from '../types/range.ts'
import { listCost, mapCost } from '../plan/runtime-cost.ts'
import type { Type } from '../types/types.ts'
import { dynType, unwrapOptional } from '../types/types.ts'
import { lengthOf } from '../types/values.ts'

/**
 * An expression with its type and size. `estimateCall` uses such nodes for the target and the arguments of a call (`cel-go/checker:
 * AstNode`).
 */
export interface CostNode {
  readonly expr: Expr | undefined
  readonly type: Type
  /**
   * Path of the value in the schema: the name of the variable, such as `self`, followed by field names, `@items`, `@values` or `@keys`. The
   * path is empty for a computed value, such as the result of a function.
   */
  readonly path: readonly string[]
  readonly size: Range | undefined
}

/** Size ranges of the items of a list, or of the keys and the values of a map. */
interface EntrySizes {
  readonly kind: 'list' | 'map'
  readonly key: Range
  readonly value: Range
}

interface LocalVariable {
  readonly path: readonly string[]
  readonly size: Range | undefined
  readonly entries: EntrySizes | undefined
}

/**
 * Estimates the minimum and maximum cost of one evaluation of the expression.
 *
 * @param root the type of `self`, with the maximum sizes of all its fields.
 */
export function estimateCost(checked: Checked, root: DeclaredType): Range {
  return new Estimator(checked, root).cost(checked.expr)
}

export class Estimator {
  readonly #checked: Checked
  readonly #root: DeclaredType
  readonly #paths = new Map<Expr, readonly string[]>()
  readonly #sizes = new Map<Expr, Range>()
  readonly #entries = new Map<Expr, EntrySizes>()
  readonly #locals = new Map<string, LocalVariable[]>()

  constructor(checked: Checked, root: DeclaredType) {
    this.#checked = checked
    this.#root = root
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case 'literal':
        return fixed(0)
      case 'ident':
        this.#paths.set(expr, this.#local(expr.name)?.path ?? [expr.name])
        return fixed(1)
      case 'select': {
        const named = this.#checked.typeNames.get(expr)
        if (named !== undefined) {
          this.#paths.set(expr, [named.name])
          return fixed(1)
        }
        const operand = this.cost(expr.operand)
        if (expr.testOnly) return operand
        this.#paths.set(expr, [...this.#pathOf(expr.operand), expr.field])
        return ['map', 'struct', 'parameter'].includes(this.#typeOf(expr.operand).kind) ? add(operand, fixed(1)) : operand
      }
      case 'call':
        return this.#call(expr)
      case 'list':
        return this.#list(expr)
      case 'map':
        return this.#map(expr)
      case 'struct':
        return expr.fields.reduce((sum, { value }) => add(sum, this.cost(value)), fixed(40))
      case 'comprehension':
        return isBinding(expr) ? this.#binding(expr) : this.#comprehension(expr)
    }
  }

  #typeOf(expr: Expr): Type {
    return this.#checked.types.get(expr) ?? dynType
  }

  #local(name: string): LocalVariable | undefined {
    return this.#locals.get(name)?.at(-1)
  }

  #pathOf(expr: Expr): readonly string[] {
    return (expr.kind === 'ident' ? this.#local(expr.name)?.path : undefined) ?? this.#paths.get(expr) ?? []
  }

  #within<Result>(locals: readonly (readonly [string, LocalVariable])[], inside: () => Result): Result {
    for (const [name, local] of locals) this.#locals.set(name, [...(this.#locals.get(name) ?? []), local])
    const result = inside()
    for (const [name] of locals) this.#locals.get(name)?.pop()
    return result
  }

  /** Returns the size range of an expression's value; undefined if unknown. */
  sizeOf(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr) ?? literalSize(expr)
    if (known !== undefined) return known
    const estimated = this.sizeAt(this.#pathOf(expr))
    if (estimated !== undefined) {
      this.#sizes.set(expr, estimated)
      return estimated
    }
    if (isScalar(this.#typeOf(expr))) return fixed(1)
    return expr.kind === 'ident' ? this.#local(expr.name)?.size : undefined
  }

  /** Returns the size range that the schema allows for the value at a path; undefined if the path is not in the schema. */
  sizeAt(path: readonly string[]): Range | undefined {
    if (path.length === 0 || path[0] === accumulatorName) return undefined
    let type: DeclaredType | undefined = this.#root
    for (const step of path.slice(1)) {
      type = step === '@items' || step === '@values' ? type.element : step === '@keys' ? type.key : type.fields?.get(step)
      if (type === undefined) return undefined
    }
    return { min: 0, max: type.maxElements }
  }

  #sizeOrUnknown(expr: Expr): Range {
    return this.sizeOf(expr) ?? unknown
  }

  #entriesOf(expr: Expr): EntrySizes | undefined {
    return this.#entries.get(expr) ?? (expr.kind === 'ident' ? this.#local(expr.name)?.entries : undefined)
  }

  #nodeOf(expr: Expr): CostNode {
    const path = this.#pathOf(expr)
    return { expr, type: this.#typeOf(expr), path: path[0] === accumulatorName ? [] : path, size: this.sizeOf(expr) }
  }

  #call(expr: Call): Range {
    const name = this.#checked.functionNames.get(expr) ?? expr.name
    if (name === 'dyn' && expr.target === undefined) {
      const cost = this.cost(expr.args[0]!)
      this.#copySizes(expr, expr.args[0]!)
      return add(cost, fixed(1))
    }
    const argCosts = expr.args.map((arg) => this.cost(arg))
    const args = expr.args.map((arg) => this.#nodeOf(arg))
    const isMember = expr.target !== undefined && !this.#checked.functionNames.has(expr)
    const overloads = name === '_?._' ? ['select_optional_field'] : (this.#checked.overloads.get(expr) ?? []).map(({ id }) => id)
    if (overloads.length === 0) return fixed(0)
    const targetCost = isMember ? this.cost(expr.target) : fixed(0)
    const target = isMember ? this.#nodeOf(expr.target) : undefined
    let cost: Range = { min: Infinity, max: 0 }
    let size: Range | undefined
    for (const overload of overloads) {
      const estimate = estimateCall(this, name, overload, target, args, argCosts)
      cost = union(cost, estimate.cost)
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : union(size, estimate.size)
      this.#combineEntries(expr, overload)
      if (overload === 'index_list' || overload === 'index_map') {
        size = this.#entriesOf(expr.args[0]!)?.value
        this.#paths.set(expr, [...this.#pathOf(expr.args[0]!), overload === 'index_list' ? '@items' : '@values'])
      }
      size ??= this.sizeOf(expr)
    }
    if (size !== undefined) this.#sizes.set(expr, size)
    return add(targetCost, cost)
  }

  /**
   * Each item of `a + b` or of `c ? a : b` is an item of `a` or of `b`. The range of the items' sizes is therefore the union of the ranges
   * of `a` and `b`.
   */
  #combineEntries(expr: Call, overload: string): void {
    const [first, second] =
      overload === 'conditional' ? expr.args.slice(1) : ['add_list', 'add_string', 'add_bytes'].includes(overload) ? expr.args : []
    const a = first === undefined ? undefined : this.#entriesOf(first)
    const b = second === undefined ? undefined : this.#entriesOf(second)
    if (a === undefined || b === undefined) return
    this.#entries.set(expr, { kind: a.kind, key: union(a.key, b.key), value: union(a.value, b.value) })
  }

  #list(expr: Expr & { kind: 'list' }): Range {
    let sum = fixed(listCost)
    let item: Range = { min: expr.elements.length === 0 ? 0 : Infinity, max: 0 }
    for (const element of expr.elements) {
      sum = add(sum, this.cost(element))
      item = union(item, this.#sizeOrUnknown(element))
    }
    this.#entries.set(expr, { kind: 'list', key: fixed(1), value: item })
    return sum
  }

  #map(expr: Expr & { kind: 'map' }): Range {
    let sum = fixed(mapCost)
    const least = expr.entries.length === 0 ? 0 : Infinity
    let [keySize, valueSize]: [Range, Range] = [
      { min: least, max: 0 },
      { min: least, max: 0 },
    ]
    for (const { key, value } of expr.entries) {
      sum = add(add(sum, this.cost(key)), this.cost(value))
      keySize = union(keySize, this.#sizeOrUnknown(key))
      valueSize = union(valueSize, this.#sizeOrUnknown(value))
    }
    this.#entries.set(expr, { kind: 'map', key: keySize, value: valueSize })
    return sum
  }

  #binding(expr: Comprehension): Range {
    const cost = add(this.cost(expr.range), this.cost(expr.initial))
    const local = { path: this.#pathOf(expr.initial), size: this.sizeOf(expr.initial), entries: this.#entriesOf(expr.initial) }
    const result = this.#within([[expr.accumulator, local]], () => {
      const inner = this.cost(expr.result)
      this.#copySizes(expr, expr.result)
      return inner
    })
    return add(cost, result)
  }

  #comprehension(expr: Comprehension): Range {
    const before = add(this.cost(expr.range), this.cost(expr.initial))
    const accumulator = { path: this.#pathOf(expr.initial), size: this.sizeOf(expr.initial), entries: this.#entriesOf(expr.initial) }
    const { round, result } = this.#within([[expr.accumulator, accumulator]], () => ({
      round: this.#within(this.#iterationVariables(expr), () => add(this.cost(expr.condition), this.cost(expr.step))),
      result: this.cost(expr.result),
    }))
    const count = this.#sizeOrUnknown(expr.range)
    if (expr.initial.kind === 'literal') {
      const size = this.sizeOf(expr.initial)
      if (size !== undefined) this.#sizes.set(expr, size)
    } else if (expr.initial.kind === 'list' || expr.initial.kind === 'map') {
      this.#sizes.set(expr, count)
      const entries = this.#entriesOf(expr.step)
      if (entries !== undefined) this.#entries.set(expr, entries)
    }
    return add(add(before, result), multiply(count, round))
  }

  #iterationVariables(expr: Comprehension): [string, LocalVariable][] {
    const entries = this.#entriesOf(expr.range)
    const path = this.#pathOf(expr.range)
    const isList = (entries?.kind ?? this.#typeOf(expr.range).kind) === 'list'
    const local = (step: string, size: Range | undefined): LocalVariable => ({ path: [...path, step], size, entries: undefined })
    const value = local(isList ? '@items' : '@values', entries?.value)
    if (expr.variable2 !== undefined) {
      return [
        [expr.variable, local(isList ? '@indices' : '@keys', entries?.key)],
        [expr.variable2, value],
      ]
    }
    return [[expr.variable, isList ? value : local('@keys', entries?.key)]]
  }

  #copySizes(to: Expr, from: Expr): void {
    const size = this.sizeOf(from)
    const entries = this.#entriesOf(from)
    if (size !== undefined) this.#sizes.set(to, size)
    if (entries !== undefined) this.#entries.set(to, entries)
  }
}

function literalSize(expr: Expr): Range | undefined {
  switch (expr.kind) {
    case 'literal':
      return fixed(typeof expr.value === 'string' ? lengthOf(expr.value) : expr.value instanceof Uint8Array ? expr.value.length : 1)
    case 'list':
      return fixed(expr.elements.length)
    case 'map':
      return fixed(expr.entries.length)
    default:
      return undefined
  }
}

function isScalar(type: Type): boolean {
  const inner = unwrapOptional(type)
  return inner === undefined ? ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind) : isScalar(inner)
}
