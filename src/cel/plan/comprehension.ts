/**
 * Plans folds over lists and maps (`Comprehension` in ast.ts): builds the functions that evaluate the folds. The macros `all` and `exists`,
 * and the macros that build a list or a map, have faster implementations than other folds.
 */
import type { Comprehension, Expr } from '../syntax/ast.ts'
import { accumulatorName, isBinding } from '../syntax/ast.ts'
import { CelError, noSuchOverload } from '../types/errors.ts'
import { goTypeOf } from '../types/go-type.ts'
import { insertAllInto, insertInto } from '../library/operators.ts'
import type { Eval, Frame, Plan, Planner } from './plan.ts'
import { checkCost, computed } from './plan.ts'
import { listCost } from './runtime-cost.ts'
import type { Value } from '../types/values.ts'
import { ListValue, MapValue, PlainList, PlainMap, typeNameOf } from '../types/values.ts'

/**
 * Iterates over a list or map: for each item, assigns the variables of the fold and calls `round`. The iteration ends when `round` returns
 * false.
 */
type Loop = (frame: Frame, range: Value, round: () => boolean) => void

export function planComprehension(planner: Planner, expr: Comprehension): Plan {
  if (isBinding(expr)) return planBinding(planner, expr)
  const { eval: range } = planner.plan(expr.range)
  const names = [expr.variable, ...(expr.variable2 === undefined ? [] : [expr.variable2])]
  return planner.within(names, ([first, second]) => {
    const loop = loopOver(first!, second)
    const shape = quantifier(planner, expr) ?? collector(planner, expr)
    return computed(shape === undefined ? generalFold(planner, expr, range, loop) : (frame) => shape(frame, range(frame), loop))
  })
}

function planBinding(planner: Planner, expr: Comprehension): Plan {
  const { eval: value } = planner.plan(expr.initial)
  return planner.within([expr.accumulator], ([slot]) => {
    const { eval: result } = planner.plan(expr.result)
    return computed((frame) => {
      frame.assign(slot!, () => value(frame))
      return result(frame)
    })
  })
}

function loopOver(first: number, second: number | undefined): Loop {
  return (frame, range, round) => {
    const { slots } = frame
    if (range instanceof ListValue) {
      for (let index = 0; index < range.size; index += 1) {
        checkCost(frame)
        if (second !== undefined) slots[first] = index
        frame.assign(second ?? first, () => range.at(index))
        if (!round()) return
      }
    } else if (range instanceof MapValue) {
      for (const key of range.keys()) {
        checkCost(frame)
        slots[first] = key
        if (second !== undefined) frame.assign(second, () => range.find(key) ?? null)
        if (!round()) return
      }
    } else if (second === undefined) throw new CelError(`got '${goTypeOf(range)}', expected iterable type`)
    else throw new CelError(`unsupported comprehension range type: ${goTypeOf(range)}`)
  }
}

type Shape = (frame: Frame, range: Value, loop: Loop) => Value

/**
 * Plans the folds of the macros `all` and `exists`. In `all`, the first `false` ends the loop and is the result. In `exists`, the first
 * `true` ends the loop and is the result. If the loop ends in this way, errors of earlier iterations are ignored. Returns undefined for the
 * fold of any other macro.
 */
function quantifier(planner: Planner, { initial, condition, step }: Comprehension): Shape | undefined {
  if (condition.kind !== 'call' || condition.name !== '@not_strictly_false' || step.kind !== 'call') return undefined
  if (initial.kind !== 'literal' || typeof initial.value !== 'boolean') return undefined
  const decisive = !initial.value
  // The loop condition of `all` has a cost of 2, because it reads the accumulator and calls `@not_strictly_false`. The condition of
  // `exists` has a cost of 3, because it also negates the accumulator.
  const conditionCost = decisive ? 3 : 2
  const { eval: predicate } = planner.plan(step.args[1]!)
  return (frame, range, loop) => {
    let decided = false
    let error: CelError | undefined
    loop(frame, range, () => {
      frame.cost += conditionCost
      if (decided) return false
      frame.cost += 1
      try {
        const value = predicate(frame)
        decided = value === decisive
        if (typeof value !== 'boolean') error ??= noSuchOverload()
      } catch (caught) {
        if (!(caught instanceof CelError)) throw caught
        error ??= caught
      }
      return true
    })
    frame.cost += 1
    if (decided) return decisive
    if (error !== undefined) throw error
    return !decisive
  }
}

/**
 * Plans the folds of the macros `map`, `filter`, `transformList`, `transformMap` and `transformMapEntry`. The iterations of these folds add
 * items or entries to the result. Returns undefined for all other folds.
 */
function collector(planner: Planner, { initial, step }: Comprehension): Shape | undefined {
  const isFiltered = step.kind === 'call' && step.name === '_?_:_' && isAccumulator(step.args[2])
  const adding = isFiltered ? step.args[1]! : step
  if (adding.kind !== 'call' || !isAccumulator(adding.args[0])) return undefined
  const filter = isFiltered ? planner.plan(step.args[0]!).eval : undefined
  if (initial.kind === 'list' && adding.name === '_+_') return listCollector(planner, filter, adding.args[1]!)
  if (initial.kind === 'map' && adding.name === 'cel.@mapInsert') return mapCollector(planner, filter, adding.args.slice(1))
  return undefined
}

function isAccumulator(expr: Expr | undefined): boolean {
  return expr?.kind === 'ident' && expr.name === accumulatorName
}

function passes(filter: Eval | undefined, frame: Frame): boolean {
  if (filter === undefined) return true
  const value = filter(frame)
  if (typeof value !== 'boolean') throw noSuchOverload()
  return value
}

/**
 * Runs a loop and calls `add` in each iteration that passes the filter. An error does not end the loop. As in cel-go, the last error of the
 * filter is thrown after the loop. If the filter never failed, the first error of `add` is thrown.
 *
 * @param roundCost cost of each call of `add`.
 */
function collect(filter: Eval | undefined, frame: Frame, range: Value, loop: Loop, roundCost: number, add: () => void): void {
  let error: CelError | undefined
  loop(frame, range, () => {
    let isFiltering = true
    try {
      if (passes(filter, frame)) {
        isFiltering = false
        frame.cost += roundCost
        add()
      }
    } catch (caught) {
      if (!(caught instanceof CelError)) throw caught
      if (isFiltering || error === undefined) error = caught
    }
    return true
  })
  frame.cost += 1
  if (error !== undefined) throw error
}

function listCollector(planner: Planner, filter: Eval | undefined, added: Expr): Shape | undefined {
  if (added.kind !== 'list' || added.elements.length !== 1) return undefined
  const element = planner.plan(added.elements[0]!)
  // In each iteration, cel-go creates a list with only the new element and appends it to the result. If the element is a constant, this
  // list is a constant, too, and has no cost.
  const roundCost = 2 + (element.constant === undefined ? listCost : 0)
  return (frame, range, loop) => {
    const items: Value[] = []
    collect(filter, frame, range, loop, roundCost, () => items.push(element.eval(frame)))
    return new PlainList(items)
  }
}

function mapCollector(planner: Planner, filter: Eval | undefined, added: readonly Expr[]): Shape {
  const [first, second] = added.map((expr) => planner.plan(expr).eval)
  return (frame, range, loop) => {
    const map = new PlainMap()
    collect(filter, frame, range, loop, 2, () => {
      const key = first!(frame)
      if (second !== undefined) insertInto(map, key, second(frame))
      else if (key instanceof MapValue) insertAllInto(map, key)
      else throw noSuchOverload(`cel.@mapInsert(map, ${typeNameOf(key)})`)
    })
    return map
  }
}

/** Plans a fold that no other function of this file plans, such as the fold of `exists_one`. */
function generalFold(planner: Planner, expr: Comprehension, range: Eval, loop: Loop): Eval {
  const { eval: initial } = planner.plan(expr.initial)
  return planner.within([expr.accumulator], ([slot]) => {
    const { eval: condition } = planner.plan(expr.condition)
    const { eval: step } = planner.plan(expr.step)
    const { eval: result } = planner.plan(expr.result)
    return (frame) => {
      const values = range(frame)
      frame.slots[slot!] = initial(frame)
      loop(frame, values, () => {
        if (condition(frame) !== true) return false
        // If `step` fails, `assign` stores the error and does not throw it, so the loop continues.
        frame.assign(slot!, () => step(frame))
        return true
      })
      return result(frame)
    }
  })
}
