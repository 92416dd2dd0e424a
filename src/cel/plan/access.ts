/** Plans field selection and indexing: builds the functions that evaluate `a.b`, `a[0]`, `a.?b`, `a[?0]` and `has(a.b)`. */
import type { Expr } from '../syntax/ast.ts'
import { CelError } from '../types/errors.ts'
import { goTypeOf } from '../types/go-type.ts'
import { resolveAttribute } from '../types/plain-optional.ts'
import type { Attribute, Frame, Plan, Planner } from './plan.ts'
import { attribute, attributeOf, mayBeOptional } from './plan.ts'
import { formatText } from '../library/format-text.ts'
import { fieldReader, fieldTester, SchemaObject } from '../types/schema-values.ts'
import type { Value } from '../types/values.ts'
import { Double, ListValue, MapValue, none, OptionalValue, PlainList, typeNameOf, Uint } from '../types/values.ts'

/** Returns the field or entry of a value; undefined if the value has no such field or entry. */
type Lookup = (value: Value) => Value | undefined

function fieldLookup(field: string): Lookup {
  const read = fieldReader(field)
  return (value) => {
    if (value instanceof SchemaObject) return read(value)
    // If the value is a list, the name of the field is used as an index of the list. `itemOf` throws, because an index of a list cannot be
    // a string.
    if (value instanceof ListValue) return itemOf(value, field)
    return value instanceof MapValue ? value.find(field) : undefined
  }
}

const steps = new Set(['_?._', '_[_]', '_[?_]'])

/**
 * Plans the operand of a selection or an index. cel-go resolves a whole chain such as `a.b[0].c` as one attribute. The planned operand has
 * the same value as in cel-go:
 *
 * - If the operand is the first operand `a` of the chain, and the value of `a` is an optional, the result of `resolveAttribute` is used. In
 *   cel-go, the content of the optional is converted to a Go value and back to a CEL value.
 * - If the operand is an intermediate value, `a.b` or `a.b[0]`, its value is used unchanged.
 */
function planStart(planner: Planner, operand: Expr): Attribute {
  const start = attributeOf(planner.plan(operand))
  const isStep = operand.kind === 'select' || (operand.kind === 'call' && steps.has(operand.name))
  if (isStep || !mayBeOptional(planner.checked.types.get(operand))) return start
  return { resolve: (frame) => resolveAttribute(start.resolve(frame)), cost: start.cost }
}

export function planAccess(planner: Planner, operand: Expr, field: string, optional: boolean): Plan {
  const { resolve: target, cost } = planStart(planner, operand)
  const lookup = fieldLookup(field)
  if (optional) return attribute((frame) => optionally(frame, target(frame), lookup), cost)
  return attribute((frame) => {
    const value = target(frame)
    if (value instanceof OptionalValue) return optionally(frame, value, lookup)
    frame.cost += 1
    const found = lookup(value)
    if (found !== undefined) return found
    throw new CelError(`no such key: ${field}`)
  }, cost)
}

/**
 * Looks up a field or entry, and wraps the result in an optional. `value` may itself be an optional. The lookup has a cost only if the
 * field or entry is present (`cel-go/interpreter: interpretable.go, QualifyIfPresent`).
 */
function optionally(frame: Frame, value: Value, lookup: Lookup): OptionalValue {
  const inner = value instanceof OptionalValue ? value.value : value
  const found = inner === undefined ? undefined : lookup(inner)
  if (found === undefined) return none
  frame.cost += 1
  return new OptionalValue(found)
}

/**
 * Plans `has(a.b)`. The cost of `has(a.b)` is one less than the cost of `a.b`, because Kubernetes sets cel-go's option
 * `PresenceTestHasCost(false)`.
 */
export function planPresence(planner: Planner, operand: Expr, field: string): Plan {
  const { resolve: target, cost } = planStart(planner, operand)
  const lookup = fieldLookup(field)
  const test = fieldTester(field)
  return attribute((frame) => {
    const value = target(frame)
    if (value instanceof OptionalValue) return optionally(frame, value, lookup).hasValue
    frame.cost += 1
    // `lookup` is called even if `test` has found the field, because `lookup` throws if the data of the field does not match the schema.
    if (value instanceof SchemaObject) return test(value) && lookup(value) !== undefined
    return lookup(value) !== undefined
  }, cost - 1)
}

export function planIndex(planner: Planner, operand: Expr, index: Expr, optional: boolean): Plan {
  const { resolve: target, cost } = planStart(planner, operand)
  const keyPlan = planner.plan(index)
  // cel-go rejects an invalid constant index when it creates the CEL program.
  if (keyPlan.constant !== undefined) checkIndex(keyPlan.constant)
  const { resolve: key } = attributeOf(keyPlan)
  return attribute((frame) => {
    const value = target(frame)
    // If the operand is `optional.none()`, the index expression is not evaluated.
    if (value instanceof OptionalValue && !value.hasValue) return none
    const isOptional = optional || value instanceof OptionalValue
    if (!isOptional) frame.cost += 1
    const at = key(frame)
    if (typeof at === 'object') checkIndex(at)
    if (isOptional) return optionally(frame, value, (inner) => itemOf(inner, at))
    const found = itemOf(value, at)
    if (found !== undefined) return found
    throw new CelError(`${value instanceof ListValue ? 'index out of bounds' : 'no such key'}: ${textOf(at)}`)
  }, cost)
}

/** Throws for an index that is not a string, a boolean or a number. */
function checkIndex(key: Value): void {
  if (typeof key !== 'object' || key instanceof Double || key instanceof Uint) return
  throw new CelError(`invalid qualifier type: ${goTypeOf(key)}`)
}

function itemOf(value: Value, key: Value): Value | undefined {
  if (value instanceof ListValue) {
    const index = indexOf(key)
    return index >= 0 && index < value.size ? value.at(index) : undefined
  }
  return value instanceof MapValue ? value.find(key) : undefined
}

function indexOf(key: Value): number {
  if (typeof key === 'number') return key
  if (typeof key === 'bigint') return -1
  const number = key instanceof Double ? key.value : key instanceof Uint ? Number(key.value) : undefined
  if (number !== undefined && Number.isInteger(number)) return number
  throw new CelError(`unsupported index type '${typeNameOf(key)}' in list`)
}

function textOf(key: Value): string {
  return formatText('%s', new PlainList([key]))
}
