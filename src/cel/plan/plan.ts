/**
 * The planner. It converts a checked expression to a function, which evaluates the expression and computes the actual cost of the
 * evaluation (`cel-go/interpreter: planner.go, runtimecost.go`).
 */
import type { Call, Expr } from '../syntax/ast.ts'
import { qualifiedName } from '../syntax/ast.ts'
import type { Checked } from './checked.ts'
import { CelError, CostLimitExceeded, EvaluationPanic, noSuchOverload } from '../types/errors.ts'
import { planAccess, planIndex, planPresence } from './access.ts'
import { planCall } from './call.ts'
import { planComprehension } from './comprehension.ts'
import { listCost, mapCost } from './runtime-cost.ts'
import { resolveAttribute } from '../types/plain-optional.ts'
import type { Type } from '../types/types.ts'
import { unwrapOptional } from '../types/types.ts'
import type { Value } from '../types/values.ts'
import { OptionalValue, PlainList, PlainMap, TypeValue } from '../types/values.ts'

/**
 * The errors of variables, indexed by slot. A declared variable has an error if its data does not match the schema. A local variable has an
 * error if the computation of its value has failed. Reading a variable that has an error throws the error.
 */
export type Failures = readonly (CelError | undefined)[] | undefined

/** State of one evaluation: the values of all variables, and the cost of the steps that have been evaluated. */
export class Frame {
  readonly slots: (Value | undefined)[]
  readonly limit: number
  #failures: Failures
  cost = 0
  constructor(slots: (Value | undefined)[], limit: number, failures: Failures = undefined) {
    this.slots = slots
    this.limit = limit
    this.#failures = failures
  }
  /** Assigns the result of `read` to a variable. If `read` throws a `CelError`, reading the variable throws this error. */
  assign(slot: number, read: () => Value): void {
    try {
      this.slots[slot] = read()
    } catch (error) {
      if (!(error instanceof CelError)) throw error
      this.slots[slot] = undefined
      this.#failures = Object.assign([], this.#failures, { [slot]: error })
    }
  }
  /** Returns the error that is thrown when an expression reads a variable without a value. */
  failureOf(slot: number, name: string): CelError {
    return this.#failures?.[slot] ?? new CelError(`no such attribute(s): ${name}`)
  }
}

/** Evaluates a subexpression. Throws `CelError`, `CostLimitExceeded` or `EvaluationPanic`. */
export type Eval = (frame: Frame) => Value

/**
 * The plan of a subexpression. `constant` is the value of a constant subexpression; undefined for any other subexpression. A constant has
 * no cost. A list or map that consists only of constants is a constant, too.
 */
export interface Plan {
  readonly eval: Eval
  readonly constant: Value | undefined
  readonly attribute?: Attribute
}

/**
 * An attribute of cel-go: a variable, a ternary, or a chain of selections and indexes. The plan of an attribute first adds `cost`, and then
 * calls `resolve`. If an attribute is a part of another attribute, only the `resolve` of the part is called, so the `cost` of the part is
 * not added. Such parts are:
 *
 * - the attribute `a.b` in the chain `a.b.c`. A `cost` is therefore added only once for the whole chain.
 * - a branch of a ternary.
 * - the index `b` in `a[b]`.
 */
export interface Attribute {
  /**
   * Evaluates the attribute. During the evaluation, `resolve` adds the costs of the selections and indexes in the attribute to
   * `Frame.cost`. `resolve` does not add `Attribute.cost` to `Frame.cost`. The `eval` of the attribute's plan adds `Attribute.cost`, and
   * then calls `resolve`.
   */
  readonly resolve: Eval
  readonly cost: number
}

export function constant(value: Value): Plan {
  return { eval: () => value, constant: value }
}

export function computed(evaluate: Eval): Plan {
  return { eval: evaluate, constant: undefined }
}

export function attribute(resolve: Eval, cost: number): Plan {
  const evaluate: Eval = (frame) => {
    frame.cost += cost
    return resolve(frame)
  }
  return { eval: cost === 0 ? resolve : evaluate, constant: undefined, attribute: { resolve, cost } }
}

/**
 * Returns the attribute of a plan. If the plan has no attribute, the function returns a new attribute with the cost 1. The `resolve` of the
 * new attribute is the `eval` of the plan (`cel-go/interpreter: planner.go, relativeAttr`).
 */
export function attributeOf({ attribute, eval: resolve }: Plan): Attribute {
  return attribute ?? { resolve, cost: 1 }
}

export interface Program {
  /** Number of slots in a frame: one for each declared and each local variable. */
  readonly slots: number
  readonly eval: Eval
}

/**
 * Plans a checked expression.
 *
 * @param variables names of the declared variables, in the order of their slots.
 * @param isDynamic true if values may have other types than declared. Function calls then check the types of their arguments.
 * @throws {CelError} when planning finds an error in a constant, such as a conversion that fails or an invalid regular expression.
 */
export function planProgram(checked: Checked, variables: readonly string[], isDynamic = false): Program {
  const planner = new Planner(checked, variables, isDynamic)
  const { eval: evaluate } = planner.plan(checked.expr)
  return { slots: planner.slots, eval: evaluate }
}

export class Planner {
  readonly checked: Checked
  readonly isDynamic: boolean
  readonly #scopes: Map<string, number>[]
  /** Number of slots that are in use. Each local variable has its own slot, which is never reused. */
  slots: number

  constructor(checked: Checked, variables: readonly string[], isDynamic: boolean) {
    this.checked = checked
    this.isDynamic = isDynamic
    this.#scopes = [new Map(variables.map((name, index) => [name, index]))]
    this.slots = variables.length
  }

  plan(expr: Expr): Plan {
    switch (expr.kind) {
      case 'literal':
        return constant(expr.value)
      case 'ident':
        return this.#ident(expr, expr.name)
      case 'select': {
        const type = this.checked.typeNames.get(expr)
        if (type !== undefined) return constant(new TypeValue(type))
        const variable = expr.testOnly ? undefined : qualifiedName(expr)
        // A declared variable can have a dotted name, such as `authorizer.requestResource`.
        if (variable !== undefined && this.#scopes[0]!.has(variable)) return this.#ident(expr, variable)
        return expr.testOnly ? planPresence(this, expr.operand, expr.field) : planAccess(this, expr.operand, expr.field, false)
      }
      case 'call':
        return this.#call(expr)
      case 'list':
        return this.#list(expr)
      case 'map':
        return this.#map(expr)
      case 'comprehension':
        return planComprehension(this, expr)
      case 'struct':
        throw new CelError(`unknown type: ${expr.typeName}`)
    }
  }

  /** Runs `plan` in an inner scope with the given variables. Each variable gets a new slot. */
  within<Result>(names: readonly string[], plan: (slots: readonly number[]) => Result): Result {
    const slots = names.map((_, index) => this.slots + index)
    this.slots += names.length
    this.#scopes.push(new Map(names.map((name, index) => [name, slots[index]!])))
    const result = plan(slots)
    this.#scopes.pop()
    return result
  }

  #ident(expr: Expr, name: string): Plan {
    const type = this.checked.typeNames.get(expr)
    if (type !== undefined) return constant(new TypeValue(type))
    const slot = this.#slotOf(name.startsWith('.') ? name.slice(1) : name)
    if (slot === undefined) throw new CelError(`no such attribute(s): ${name}`)
    if (mayBeOptional(this.checked.types.get(expr))) {
      return attribute((frame) => {
        const value = frame.slots[slot]
        if (value === undefined) throw frame.failureOf(slot, name)
        return resolveAttribute(value)
      }, 1)
    }
    return attribute((frame) => {
      const value = frame.slots[slot]
      if (value === undefined) throw frame.failureOf(slot, name)
      return value
    }, 1)
  }

  #slotOf(name: string): number | undefined {
    for (let index = this.#scopes.length - 1; index >= 0; index -= 1) {
      const slot = this.#scopes[index]!.get(name)
      if (slot !== undefined) return slot
    }
    return undefined
  }

  #call(expr: Call): Plan {
    const [first, second, third] = expr.args
    switch (expr.name) {
      case '_&&_':
        return logical(this.plan(first!), this.plan(second!), false)
      case '_||_':
        return logical(this.plan(first!), this.plan(second!), true)
      case '_?_:_':
        return conditional(this.plan(first!), this.plan(second!), this.plan(third!), mayBeOptional(this.checked.types.get(expr)))
      case '_[_]':
        return planIndex(this, first!, second!, false)
      case '_[?_]':
        return planIndex(this, first!, second!, true)
      case '_?._':
        return planAccess(this, first!, second!.kind === 'literal' ? String(second!.value) : '', true)
      case 'or':
      case 'orValue':
        if (expr.target !== undefined && expr.args.length === 1) return alternative(this.plan(expr.target), this.plan(first!), expr.name)
    }
    return planCall(this, expr)
  }

  #list(expr: Expr & { kind: 'list' }): Plan {
    const plans = expr.elements.map((element) => this.plan(element))
    const optionals = new Set(expr.optionals)
    const items = (values: readonly Value[]): PlainList => {
      if (optionals.size === 0) return new PlainList(values)
      return new PlainList(values.flatMap((value, index) => (optionals.has(index) ? optionalItems(value) : [value])))
    }
    const constants = plans.map((plan) => plan.constant)
    if (constants.every((value) => value !== undefined)) return constant(items(constants))
    return computed((frame) => {
      // This cost is added even if the evaluation of an item fails (`cel-go/interpreter: runtimecost.go, Observe`). The cost of a map is
      // added in the same way.
      frame.cost += listCost
      return items(plans.map((plan) => plan.eval(frame)))
    })
  }

  #map(expr: Expr & { kind: 'map' }): Plan {
    const entries = expr.entries.map(({ key, value, optional }) => ({ key: this.plan(key), value: this.plan(value), optional }))
    const make = (frame: Frame): PlainMap => {
      const pairs: [Value, Value][] = []
      for (const entry of entries) {
        const key = entry.key.eval(frame)
        const value = entry.value.eval(frame)
        if (!entry.optional) pairs.push([key, value])
        else pairs.push(...optionalItems(value, String(key)).map((item): [Value, Value] => [key, item]))
      }
      return new PlainMap(pairs)
    }
    if (entries.every(({ key, value }) => key.constant !== undefined && value.constant !== undefined)) {
      try {
        return constant(make(new Frame([], Infinity)))
      } catch (error) {
        // kube-apiserver would panic while it compiles this map. Here, each evaluation of the map fails.
        if (!(error instanceof EvaluationPanic)) throw error
      }
    }
    return computed((frame) => {
      frame.cost += mapCost
      return make(frame)
    })
  }
}

function optionalItems(value: Value, entry?: string): readonly Value[] {
  if (value instanceof OptionalValue) return value.hasValue ? [value.value!] : []
  throw new CelError(
    `cannot initialize optional ${entry === undefined ? 'list element' : `entry '${entry}'`} from non-optional value ${String(value)}`,
  )
}

/**
 * Plans `&&` (`decisive` is false) and `||` (`decisive` is true). If the value of one operand is `decisive`, an error of the other operand
 * is ignored.
 */
function logical(left: Plan, right: Plan, decisive: boolean): Plan {
  const [first, second] = [left.eval, right.eval]
  const expectBool = (value: Value): void => {
    if (typeof value !== 'boolean') throw noSuchOverload()
  }
  return computed((frame) => {
    let error: CelError | undefined
    try {
      const value = first(frame)
      if (value === decisive) return decisive
      expectBool(value)
    } catch (caught) {
      if (!(caught instanceof CelError)) throw caught
      error = caught
    }
    if (error === undefined) {
      const value = second(frame)
      expectBool(value)
      return value
    }
    try {
      if (second(frame) === decisive) return decisive
    } catch (caught) {
      if (!(caught instanceof CelError)) throw caught
    }
    throw error
  })
}

/** Returns true when values of the type may be optionals. */
export function mayBeOptional(type: Type | undefined): boolean {
  return type === undefined || type.kind === 'dyn' || unwrapOptional(type) !== undefined
}

/** Plans a ternary. A ternary adds no cost to the costs of its operands (`cel-go/interpreter: runtimecost.go, Observe`). */
function conditional(condition: Plan, whenTrue: Plan, whenFalse: Plan, isOptional: boolean): Plan {
  const [{ resolve: first }, { resolve: second }] = [attributeOf(whenTrue), attributeOf(whenFalse)]
  const resolve: Eval = (frame) => {
    const value = condition.eval(frame)
    if (value === true) return first(frame)
    if (value === false) return second(frame)
    throw noSuchOverload()
  }
  return attribute(isOptional ? (frame) => resolveAttribute(resolve(frame)) : resolve, 0)
}

/**
 * Plans the calls `TARGET.or(ARGUMENT)` and `TARGET.orValue(ARGUMENT)`. The argument is evaluated only if the target is an empty optional.
 * If the value of the target is not an optional, the call returns this value unchanged. Only a target of type dyn can have such a value.
 */
function alternative(target: Plan, other: Plan, name: 'or' | 'orValue'): Plan {
  return computed((frame) => {
    const value = target.eval(frame)
    if (!(value instanceof OptionalValue)) return value
    if (!value.hasValue) return other.eval(frame)
    return name === 'or' ? value : value.value!
  })
}

/** Throws `CostLimitExceeded` when the evaluation has exceeded its cost limit. Every iteration of a loop must call this function. */
export function checkCost(frame: Frame): void {
  if (frame.cost > frame.limit) throw new CostLimitExceeded()
}
