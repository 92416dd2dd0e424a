/**
 * Actual costs of function calls, in the units of cel-go (`cel-go/interpreter: runtimecost.go, costCall`;
 * `k8s.io/apiserver/pkg/cel/library: cost.go, CallCost`).
 */
import { CelError } from '../types/errors.ts'
import { NamedFormat } from '../library/named-formats.ts'
import type { Value } from '../types/values.ts'
import { ListValue, MapValue, OpaqueValue, sizeOf, typeNameOf } from '../types/values.ts'

/** Cost of a function call: a number, or a function if the cost depends on the arguments or the result. */
export type CallCost = number | ((first: Value, second: Value | undefined, result: Value) => number)

export const traversalFactor = 0.1
export const regexFactor = 0.25
export const listCost = 10
export const mapCost = 30
export const structCost = 40
/** Cost of an authorization check. `perCallLimit` is 1,000,000, so one evaluation can contain at most two checks. */
export const authorizationCost = 350_000

function traversal(size: number): number {
  return Math.ceil(size * traversalFactor)
}

function traverseFirst(factor = 1): CallCost {
  return (first) => Math.ceil(sizeOf(first) * factor * traversalFactor)
}

const compareSizes: CallCost = (a, b) => traversal(Math.min(sizeOf(a), sizeOf(b!)))
/** Cost of matching a regular expression. The length of the string is increased by 1, so the cost for an empty string is not zero. */
const regex: CallCost = (text, pattern) => traversal(1 + sizeOf(text)) * Math.ceil(sizeOf(pattern!) * regexFactor)
const wholeTree: CallCost = treeCost

function treeCost(value: Value): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * traversalFactor)
  if (value instanceof Uint8Array) return Math.floor(value.length * traversalFactor)
  let sum = 0
  if (value instanceof ListValue) {
    for (let index = 0; index < value.size; index += 1) sum += treeCost(valueOrNull(() => value.at(index)))
    return sum
  }
  if (!(value instanceof MapValue)) return 1
  for (const key of value.keys()) sum += treeCost(key) + treeCost(valueOrNull(() => value.find(key) ?? null))
  return sum
}

/**
 * Returns the result of `read`. If `read` throws a CelError because a value does not match its schema, returns null. The cost of null is 1.
 */
function valueOrNull(read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (error instanceof CelError) return null
    throw error
  }
}

function allocatingListCost(factor: number, size: number): number {
  return Math.floor(size * factor) + 1 + listCost
}

const outputSizeCost: CallCost = (_first, _second, result) => allocatingListCost(1, sizeOf(result))
const flattenCost: CallCost = (list, depth) => allocatingListCost(typeof depth === 'number' ? depth : 1, sizeOf(list))

function selfCompareCost(list: Value): number {
  const size = sizeOf(list)
  const isText = list instanceof ListValue && size > 0 && ['string', 'bytes'].includes(typeNameOf(valueOrNull(() => list.at(0))))
  return allocatingListCost(size > 0 && isText ? 2 + traversalFactor : 2, size * size)
}

function setCost(factor: number): CallCost {
  return (a, b) => 1 + Math.floor(sizeOf(a) * sizeOf(b!) * factor)
}

function containsCost(kind: 'ip' | 'cidr', parses: boolean): CallCost {
  return (network, other) => {
    const size = sizeOf(network)
    const masks = kind === 'cidr' ? traversal(size) + 1 : 0
    return Math.ceil(size * 2 * traversalFactor) + masks + (parses ? traversal(sizeOf(other!)) : 0)
  }
}

const validateCost: CallCost = (format, text) =>
  traversal(1 + sizeOf(text!)) * Math.ceil((format instanceof NamedFormat ? format.patternSize : 0) * regexFactor)

/**
 * Cost of parsing a selector and creating a list of the selector's requirements. Each requirement is a struct with a list. The cost assumes
 * the maximum number of requirements: one for every two characters.
 */
const selectorCost: CallCost = (_check, selector) =>
  listCost + traversal(sizeOf(selector!)) + Math.ceil(sizeOf(selector!) / 2) * (listCost + structCost)

const byOverload: ReadonlyMap<string, CallCost> = new Map<string, CallCost>([
  ['list_slice', outputSizeCost],
  ['list_flatten', flattenCost],
  ['list_flatten_int', flattenCost],
  ['lists_range', outputSizeCost],
  ['list_reverse', outputSizeCost],
  ['list_distinct', selfCompareCost],
  ['list_sets_contains_list', setCost(1)],
  ['list_sets_intersects_list', setCost(1)],
  ['list_sets_equivalent_list', setCost(2)],
  ['cidr_ip', 1],
  ['cidr_contains_ip_string', containsCost('ip', true)],
  ['cidr_contains_ip_ip', containsCost('ip', false)],
  ['cidr_contains_cidr_string', containsCost('cidr', true)],
  ['cidr_contains_cidr', containsCost('cidr', false)],
  ['in_list', (_, list) => sizeOf(list!)],
  ['starts_with_string', traverseFirst()],
  ['ends_with_string', traverseFirst()],
  ['string_to_bytes', traverseFirst()],
  ['bytes_to_string', traverseFirst()],
  ['strings_quote', traverseFirst()],
  ['string_format', traverseFirst()],
  ['add_string', (a, b) => traversal(sizeOf(a) + sizeOf(b!))],
  ['add_bytes', (a, b) => traversal(sizeOf(a) + sizeOf(b!))],
  ['matches_string', regex],
  ['contains_string', (text, part) => traversal(sizeOf(text)) * traversal(sizeOf(part!))],
  ['equals', (a, b) => (a instanceof OpaqueValue ? 1 : traversal(Math.min(sizeOf(a), sizeOf(b!))))],
  ['not_equals', compareSizes],
  ...['less', 'less_equals', 'greater', 'greater_equals'].flatMap((name) =>
    ['string', 'bytes'].map((type) => [`${name}_${type}`, compareSizes] as const),
  ),
])

const byFunction: ReadonlyMap<string, CallCost> = new Map<string, CallCost>([
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'].map((name) => [name, wholeTree] as const),
  ...['url', 'lowerAscii', 'upperAscii', 'substring', 'trim'].map((name) => [name, traverseFirst()] as const),
  ...['replace', 'split'].map((name) => [name, traverseFirst(2)] as const),
  ['join', (_first, _second, result) => Math.ceil(sizeOf(result) * 2 * traversalFactor)],
  ['find', regex],
  ['findAll', regex],
  ...['cidr', 'isIP', 'isCIDR', 'ip', 'quantity', 'isQuantity', 'semver', 'isSemver'].map((name) => [name, traverseFirst()] as const),
  ['ip.isCanonical', traverseFirst(2)],
  ['validate', validateCost],
  ['check', authorizationCost],
  ['fieldSelector', selectorCost],
  ['labelSelector', selectorCost],
])

/**
 * Returns the cost of a function call. `overloadId` is undefined if the overload is chosen during the evaluation. In this case, cel-go
 * determines the cost from the function name.
 */
export function callCost(name: string, overloadId: string | undefined): CallCost {
  if (overloadId !== undefined && /^list_.*_sort$/.test(overloadId)) return selfCompareCost
  if (overloadId !== undefined && overloadId.endsWith('_sortByAssociatedKeys')) return (_, keys) => selfCompareCost(keys!)
  return (overloadId === undefined ? undefined : byOverload.get(overloadId)) ?? byFunction.get(name) ?? 1
}
