/**
 * Plans function calls: builds the functions that evaluate them. If the argument types are known and match only one overload, that overload
 * is called directly. In all other cases, the values of the arguments select the overload.
 */
import type { Call } from '../syntax/ast.ts'
import type { Implementation, Overload } from '../library/declarations.ts'
import { contains, equals } from '../types/comparison.ts'
import { CelError, EvaluationPanic, noSuchOverload } from '../types/errors.ts'
import { matcherOf } from '../library/regular-expressions.ts'
import { functions } from '../library/index.ts'
import type { Eval, Plan, Planner } from './plan.ts'
import { computed, constant, Frame } from './plan.ts'
import type { CallCost } from './runtime-cost.ts'
import { callCost } from './runtime-cost.ts'
import type { Type } from '../types/types.ts'
import type { Value } from '../types/values.ts'
import { ListValue, MapValue, typeNameOf } from '../types/values.ts'

const conversions = new Set(['bool', 'bytes', 'double', 'dyn', 'int', 'string', 'duration', 'timestamp', 'type', 'uint'])
/**
 * Functions that have one implementation for all overloads in cel-go (`SingletonBinaryBinding`). Their `no such overload` error does not
 * list the argument types.
 */
const singletons = new Set('_+_ _-_ _*_ _/_ _%_ -_ !_ _<_ _<=_ _>_ _>=_ @in size matches contains startsWith endsWith'.split(' '))
/** The functions of cel-go's lists extension that accept lists of any item type. */
const anyList = new Set(['sort', '@sortByAssociatedKeys'])
/**
 * Functions that check the types of their arguments themselves in cel-go. If an argument has a wrong type, the error therefore does not
 * contain the function name.
 */
const checkedByName = new Set(['!_', '@in', 'contains', 'startsWith', 'endsWith'])
/**
 * Types that implement cel-go's `traits.Receiver`. If no implementation of a function accepts the arguments, and the first argument has
 * such a type, cel-go calls the argument's method `Receive`. The error of this method does not contain the function name.
 */
const receivers = new Set(['string', 'google.protobuf.Timestamp', 'google.protobuf.Duration'])
/**
 * Messages of the panics of cel-go's cost tracker. If the evaluation of an argument has failed, the tracker panics when it computes the
 * cost of a call of `distinct`, `sort` or `sortBy` (`cel-go/ext: lists.go, trackListSort`), or of `flatten` (`trackListFlatten`).
 */
const notLister = 'interface conversion: *types.Err is not traits.Lister: missing method Add'
const notInt = 'interface conversion: ref.Val is *types.Err, not types.Int'
/**
 * Names of the functions that have a regular expression as an argument. If the regular expression is constant, it is compiled when the CEL
 * program is created (`RegexOptimization`).
 */
const patternFunctions = new Set(['matches', 'find', 'findAll'])

export function planCall(planner: Planner, expr: Call): Plan {
  const name = planner.checked.functionNames.get(expr) ?? (expr.name.startsWith('.') ? expr.name.slice(1) : expr.name)
  const isQualified = planner.checked.functionNames.has(expr)
  const operands = expr.target === undefined || isQualified ? expr.args : [expr.target, ...expr.args]
  const overloads = planner.checked.overloads.get(expr) ?? []
  const only = overloads.length === 1 ? overloads[0] : undefined
  const plans = operands.map((operand, index) => panicking(planner.plan(operand), panicOf(only, index)))
  const list = plans[1]?.constant
  if (only?.id === 'in_list' && list instanceof ListValue) return planMembership(plans[0]!, list)
  const known = !planner.isDynamic && operands.every((operand) => isKnown(planner.checked.types.get(operand)))
  const implementation = implementationOf(name, only, overloads, known, plans)
  const isVariadic = plans.length > 2 || patternOf(name, plans) !== undefined
  const call = callWith(plans, implementation, callCost(name, only?.id), isVariadic)
  // cel-go evaluates a conversion of a constant when it creates the CEL program. If the conversion fails, the program cannot be created.
  if (conversions.has(name) && plans.length === 1 && plans[0]!.constant !== undefined) return constant(call(new Frame([], Infinity)))
  return computed(call)
}

/**
 * Plans `x in LIST` for a constant list, for example `x in ['a', 'b']`. Only the evaluation of `x` has a cost (`cel-go/interpreter:
 * decorators.go, maybeOptimizeSetMembership`).
 */
function planMembership({ eval: item }: Plan, list: ListValue): Plan {
  // For an empty list, the result is constant, and `x` is not evaluated.
  if (list.size === 0) return constant(false)
  const values = [...list]
  const isPlain = (value: Value): boolean => ['string', 'boolean', 'number'].includes(typeof value)
  if (!values.every(isPlain)) {
    return computed((frame) => {
      const value = item(frame)
      return contains(list, value)
    })
  }
  const known = new Set(values)
  return computed((frame) => {
    const value = item(frame)
    return isPlain(value) ? known.has(value) : values.some((other) => equals(other, value))
  })
}

function implementationOf(
  name: string,
  only: Overload | undefined,
  overloads: readonly Overload[],
  known: boolean,
  plans: readonly Plan[],
): Implementation {
  const pattern = patternOf(name, plans)
  if (pattern !== undefined) {
    const test = matcherOf(pattern)
    if (name === 'matches' && known) return test
    return stringsOnly(name === 'matches' ? test : (overloads[0]!.implementation as (text: string, ...rest: readonly Value[]) => Value))
  }
  if (anyList.has(name) && overloads[0]?.implementation !== undefined) return listsOnly(name, overloads[0].implementation)
  if (only?.implementation !== undefined && known) return singletons.has(name) ? only.implementation : withTypeMismatch(name, only)
  // In cel-go, some functions have one implementation for all their overloads (`singletons`). Such a function accepts the arguments of any
  // of its overloads, even if the declared types match only one overload.
  const candidates = singletons.has(name) ? functions.get(name)! : overloads
  const guarded = candidates.map((overload) => ({ overload, guards: overload.parameters.map(guard) }))
  return (...args: readonly Value[]): Value => {
    for (const { overload, guards } of guarded) {
      if (overload.implementation !== undefined && guards.every((fits, index) => fits(args[index]!))) {
        return (overload.implementation as (...args: readonly Value[]) => Value)(...args)
      }
    }
    throw mismatch(name, args)
  }
}

/** Returns the regular expression of a call if it is a constant; otherwise undefined. */
function patternOf(name: string, plans: readonly Plan[]): string | undefined {
  const pattern = plans[1]?.constant
  return patternFunctions.has(name) && typeof pattern === 'string' ? pattern : undefined
}

/**
 * Wraps an overload. If a call fails and the arguments do not have the declared types, the error is `no such overload`. The arguments can
 * have other types, because the items of a list or map need not have the type that the schema declares.
 */
function withTypeMismatch(name: string, { parameters, implementation }: Overload): Implementation {
  const isOfItems = ({ kind, parameters: items }: Type): boolean => (kind === 'list' || kind === 'map') && items.some(isKnown)
  const call = implementation as (...args: readonly Value[]) => Value
  if (!parameters.some(isOfItems)) return call
  const guards = parameters.map(guard)
  return (...args: readonly Value[]): Value => {
    try {
      return call(...args)
    } catch (error) {
      throw error instanceof CelError && !guards.every((fits, index) => fits(args[index]!)) ? mismatch(name, args) : error
    }
  }
}

/**
 * Wraps the implementation of a function that is called with a constant regular expression. If an argument has a wrong type, the error is
 * `no such overload` without the argument types, as in cel-go's separate implementation for constant regular expressions
 * (`RegexOptimization`).
 */
function stringsOnly(implementation: (text: string, ...rest: readonly Value[]) => Value): Implementation {
  return (text: Value, ...rest: readonly Value[]): Value => {
    const limit = rest[1]
    if (typeof text !== 'string' || !['undefined', 'number', 'bigint'].includes(typeof limit)) throw noSuchOverload()
    return implementation(text, ...rest)
  }
}

function listsOnly(name: string, implementation: Implementation): Implementation {
  return (...args: readonly Value[]): Value => {
    if (!args.every((arg) => arg instanceof ListValue)) throw mismatch(name, args)
    return (implementation as (...args: readonly Value[]) => Value)(...args)
  }
}

/** If the evaluation of an argument fails, cel-go can panic. Returns the message of this panic; undefined if cel-go does not panic. */
function panicOf(overload: Overload | undefined, index: number): string | undefined {
  if (overload === undefined) return undefined
  if (overload.id === 'list_flatten_int') return index === 1 ? notInt : undefined
  return overload.id === 'list_distinct' || /^list_.*_(sort|sortByAssociatedKeys)$/.test(overload.id) ? notLister : undefined
}

/** Wraps the plan of an argument. If the evaluation of the argument fails, the whole evaluation ends with a panic. */
function panicking(plan: Plan, message: string | undefined): Plan {
  if (message === undefined || plan.constant !== undefined) return plan
  return computed((frame) => {
    try {
      return plan.eval(frame)
    } catch (error) {
      if (!(error instanceof CelError)) throw error
      throw new EvaluationPanic(message)
    }
  })
}

function mismatch(name: string, args: readonly Value[]): CelError {
  if (singletons.has(name)) {
    const type = typeNameOf(args[0]!)
    const isPlain =
      checkedByName.has(name) || receivers.has(type) || functions.get(name)!.some(({ parameters }) => parameters[0]!.name === type)
    return isPlain ? noSuchOverload() : noSuchOverload(name)
  }
  return noSuchOverload(`${name}(${args.map(typeNameOf).join(', ')})`)
}

/** True if neither the type nor any of its parameters is dyn, an error or a type parameter. */
function isKnown(type: Type | undefined): boolean {
  return type !== undefined && type.kind !== 'dyn' && type.kind !== 'error' && type.kind !== 'parameter' && type.parameters.every(isKnown)
}

/**
 * Returns a predicate that is true if a value has the type. In a list, the predicate tests only the first item. In a map, the predicate
 * tests only the first entry. If the item or the entry cannot be read, because it does not match the schema, the predicate is false.
 */
function guard(type: Type): (value: Value) => boolean {
  if (type.kind === 'dyn' || type.kind === 'parameter') return () => true
  const [first, second] = type.parameters.map(guard)
  if (type.kind === 'list') return (value) => value instanceof ListValue && (value.size === 0 || ifReadable(() => first!(value.at(0))))
  if (type.kind === 'map') {
    return (value) => {
      if (!(value instanceof MapValue)) return false
      const key = value.keys()[0]
      return key === undefined || ifReadable(() => first!(key) && second!(value.find(key) ?? null))
    }
  }
  return (value) => typeNameOf(value) === type.name
}

function ifReadable(fits: () => boolean): boolean {
  try {
    return fits()
  } catch (error) {
    if (error instanceof CelError) return false
    throw error
  }
}

/** Evaluates an argument. Returns undefined if the evaluation fails. */
function valueIfAny(evaluate: Eval, frame: Frame): Value | undefined {
  try {
    return evaluate(frame)
  } catch (error) {
    if (error instanceof CelError) return undefined
    throw error
  }
}

/**
 * Plans a call. Calls with one or two arguments have their own code without an array of arguments, because creating this array takes longer
 * than most calls.
 *
 * @param isVariadic true if cel-go evaluates the call with `evalVarArgs` (`cel-go/interpreter: interpretable.go`). If an argument fails,
 *   the consequences depend on this parameter:
 *
 * - True: the later arguments are not evaluated. The call has a cost only if the failed argument is the last one (`runtimecost.go,
 *   dropArgs`).
 * - False: all arguments are evaluated, and the call has a cost.
 */
function callWith(plans: readonly Plan[], implementation: Implementation, cost: CallCost, isVariadic: boolean): Eval {
  const [a, b] = plans.map((plan) => plan.eval)
  const call = implementation as (...args: readonly Value[]) => Value
  const pay = (frame: Frame, first: Value, second: Value | undefined, result: Value): Value => {
    frame.cost += typeof cost === 'number' ? cost : cost(first, second, result)
    return result
  }
  // A failed call has a cost, too. If the result or an argument has no value, the cost function gets null instead. The size of null is 1.
  // In cel-go, the size of an error is also 1.
  const payForError = (frame: Frame, error: unknown, first: Value = null, second: Value = null): never => {
    if (error instanceof CelError) pay(frame, first, plans.length < 2 ? undefined : second, null)
    throw error
  }
  if (plans.length === 1) {
    return (frame) => {
      let value: Value | undefined
      try {
        value = a!(frame)
        return pay(frame, value, undefined, call(value))
      } catch (error) {
        return payForError(frame, error, value)
      }
    }
  }
  if (plans.length === 2) {
    return (frame) => {
      let left: Value | undefined
      let right: Value | undefined
      try {
        left = a!(frame)
        right = b!(frame)
        return pay(frame, left, right, call(left, right))
      } catch (error) {
        if (left === undefined && error instanceof CelError) {
          if (isVariadic) throw error
          right = valueIfAny(b!, frame)
        }
        return payForError(frame, error, left, right)
      }
    }
  }
  return (frame) => {
    const values: Value[] = []
    try {
      for (const plan of plans) values.push(plan.eval(frame))
      return pay(frame, values[0] ?? null, values[1], call(...values))
    } catch (error) {
      if (values.length < plans.length - 1) throw error
      return payForError(frame, error, values[0], values[1])
    }
  }
}
