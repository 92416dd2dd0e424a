/**
 * Estimates the minimum and maximum cost of function calls and the size of their results (`cel-go/checker: cost.go, functionCost`;
 * `k8s.io/apiserver/pkg/cel/library: cost.go, EstimateCallCost`; `cel-go/ext: lists.go`).
 */
import type { CostNode, Estimator } from './estimate.ts'
import type { Range } from '../types/range.ts'
import { add, fixed, multiply, scale, union, unknown } from '../types/range.ts'
import { authorizationCost, listCost, regexFactor, structCost, traversalFactor } from '../plan/runtime-cost.ts'

interface CallEstimate {
  readonly cost: Range
  readonly size?: Range
}

interface Call {
  readonly estimator: Estimator
  readonly name: string
  readonly overload: string
  readonly target: CostNode | undefined
  readonly args: readonly CostNode[]
}

/**
 * Estimates the cost of a call and the size of its result. The cost includes the costs of the arguments, but not the cost of the target.
 */
export function estimateCall(
  estimator: Estimator,
  name: string,
  overload: string,
  target: CostNode | undefined,
  args: readonly CostNode[],
  argCosts: readonly Range[],
): CallEstimate {
  const call = { estimator, name, overload, target, args }
  const own = estimateListCall(call) ?? estimateLibraryCall(call) ?? estimateTextCall(call)
  if (own !== undefined) return { ...own, cost: argCosts.reduce(add, own.cost) }
  const [first = fixed(0), second = fixed(0), third = fixed(0)] = argCosts
  if (overload === 'logical_and' || overload === 'logical_or') return { cost: { min: first.min, max: add(first, second).max } }
  if (overload === 'conditional') {
    const size = union(sizeOf(args[1]), sizeOf(args[2]))
    return { cost: add(first, union(second, third)), size }
  }
  return { cost: argCosts.reduce(add, fixed(1)) }
}

function sizeOf(node: CostNode | undefined): Range {
  return node?.size ?? unknown
}

function traversalCost(node: CostNode | undefined, factor = 1): Range {
  return scale(sizeOf(node), factor * traversalFactor)
}

function allocatingListCall(factor: number, size: Range): CallEstimate {
  return { cost: add(scale(size, factor), fixed(1 + listCost)), size }
}

/** Subtracts two sizes as Go subtracts uint64 values: 2^64 is added to a negative result. */
function difference(a: number, b: number): number {
  return a < b ? unknown.max + a - b : a - b
}

/** Returns the value of an int literal, or 0 if the value is negative. Returns `otherwise` for any other expression. */
function literalOr(node: CostNode | undefined, otherwise: number): number {
  const value = node?.expr?.kind === 'literal' ? node.expr.value : undefined
  return typeof value === 'number' || typeof value === 'bigint' ? Math.max(0, Number(value)) : otherwise
}

/** True for a negative int literal. If the last argument of `split` is negative, the number of results is unlimited. */
function isNegative(node: CostNode | undefined): boolean {
  const value = node?.expr?.kind === 'literal' ? node.expr.value : undefined
  return (typeof value === 'number' || typeof value === 'bigint') && value < 0
}

/** Returns the estimate for a function of cel-go's lists or sets extension; undefined for any other function. */
function estimateListCall({ overload, target, args }: Call): CallEstimate | undefined {
  const size = sizeOf(target)
  switch (overload) {
    case 'list_slice':
      return allocatingListCall(1, fixed(difference(literalOr(args[1], size.max), literalOr(args[0], 0))))
    case 'list_flatten':
      return allocatingListCall(1, size)
    case 'list_flatten_int':
      return allocatingListCall(literalOr(args[0], unknown.max), size)
    case 'lists_range':
      return allocatingListCall(1, fixed(literalOr(args[0], unknown.max)))
    case 'list_reverse':
      return allocatingListCall(1, size)
    case 'list_distinct':
      return allocatingListCall(2, multiply(size, size))
    case 'list_sets_contains_list':
    case 'list_sets_intersects_list':
    case 'list_sets_equivalent_list': {
      const factor = overload === 'list_sets_equivalent_list' ? 2 : 1
      return { cost: add(scale(multiply(sizeOf(args[0]), sizeOf(args[1])), factor), fixed(1)) }
    }
  }
  const sorted = /^list_(.*)_(sort|sortByAssociatedKeys)$/.exec(overload)
  if (sorted === null) return undefined
  const keys = sizeOf(sorted[2] === 'sort' ? target : args[0])
  return allocatingListCall(['string', 'bytes'].includes(sorted[1]!) ? 2 + traversalFactor : 2, multiply(keys, keys))
}

const constantCost = new Set(
  (
    'masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast format.named sign asInteger ' +
    'isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch getScheme getHostname getHost getPort ' +
    'getEscapedPath getQuery'
  ).split(' '),
)
/** Number of bytes of an IP address: 4 for IPv4, 16 for IPv6. */
const addressSize: Range = { min: 4, max: 16 }
const maxNamePattern = 128

/** Returns the estimate for a function of Kubernetes' CEL libraries; undefined for any other function. */
function estimateLibraryCall(call: Call): CallEstimate | undefined {
  const { name, overload, target, args } = call
  if (constantCost.has(name)) return { cost: fixed(1) }
  switch (name) {
    case 'isSorted':
    case 'sum':
    case 'max':
    case 'min':
    case 'indexOf':
    case 'lastIndexOf':
      return target === undefined ? undefined : { cost: walkCost(call, target) }
    case 'url':
      return { cost: traversalCost(args[0]), size: sizeOf(args[0]) }
    case 'ip':
      return { cost: overload === 'cidr_ip' ? fixed(1) : traversalCost(args[0]) }
    case 'ip.isCanonical':
      return { cost: traversalCost(args[0], 2) }
    case 'cidr':
    case 'isIP':
    case 'isCIDR':
    case 'quantity':
    case 'isQuantity':
    case 'semver':
    case 'isSemver':
      return { cost: traversalCost(args[0]) }
    case 'containsIP':
    case 'containsCIDR': {
      const compared = scale(add(addressSize, addressSize), traversalFactor)
      const masked = name === 'containsCIDR' ? add(scale(addressSize, traversalFactor), fixed(1)) : fixed(0)
      const parsed = overload.endsWith('_string') ? traversalCost(args[0]) : fixed(0)
      return { cost: add(add(compared, masked), parsed) }
    }
    case 'check':
      return { cost: fixed(authorizationCost) }
    case 'fieldSelector':
    case 'labelSelector':
      return { cost: add(add(fixed(listCost), traversalCost(args[0])), scale(scale(sizeOf(args[0]), 1 / 2), listCost + structCost)) }
    case 'validate':
      return { cost: scale(traversalCost(args[0]), maxNamePattern * regexFactor) }
    case '_==_':
      return equalityOfLibraryTypes(args)
    default:
      return undefined
  }
}

const cheapEquality = new Set(['net.IP', 'net.CIDR', 'kubernetes.Quantity', 'kubernetes.Semver'])
const maxFormat = 64

function equalityOfLibraryTypes([left, right]: readonly CostNode[]): CallEstimate | undefined {
  const name = left?.type.name
  if (name === undefined || name !== right?.type.name) return undefined
  if (cheapEquality.has(name)) return { cost: fixed(1) }
  if (name === 'kubernetes.NamedFormat') return { cost: scale({ min: 1, max: maxFormat }, traversalFactor) }
  if (name === 'kubernetes.URL') return { cost: scale({ min: 1, max: right.size?.max ?? 1 }, traversalFactor) }
  return undefined
}

/** Returns the cost of visiting all items of a list. The cost of a string or bytes item depends on the size of the item. */
function walkCost({ estimator }: Call, target: CostNode): Range {
  const item = target.type.parameters[0]
  if (item === undefined) return traversalCost(target)
  const isText = item.kind === 'string' || item.kind === 'bytes'
  const itemSize = target.path.length === 0 ? unknown : (estimator.sizeAt([...target.path, '@items']) ?? unknown)
  return multiply(sizeOf(target), isText ? add(fixed(1), scale(itemSize, traversalFactor)) : fixed(1))
}

function regexCost(text: CostNode | undefined, pattern: CostNode | undefined): Range {
  return multiply(scale(add(sizeOf(text), fixed(1)), traversalFactor), scale(sizeOf(pattern), regexFactor))
}

/**
 * Returns the estimate for a function on strings or bytes, or for an operator such as `+`, `in` or `==`; undefined for any other function.
 */
function estimateTextCall(call: Call): CallEstimate | undefined {
  const { name, overload, target, args } = call
  switch (name) {
    case 'lowerAscii':
    case 'upperAscii':
    case 'substring':
    case 'trim':
      return target === undefined ? undefined : { cost: traversalCost(target), size: sizeOf(target) }
    case 'replace':
      return { cost: traversalCost(target, 2), size: replacedSize(sizeOf(target), sizeOf(args[0]), sizeOf(args[1])) }
    case 'split':
      return {
        cost: traversalCost(target, 2),
        size: { min: 0, max: isNegative(args[1]) ? unknown.max : literalOr(args[1], sizeOf(target).max) },
      }
    case 'join':
      return joinEstimate(call)
    case 'find':
    case 'findAll':
      return { cost: regexCost(target, args[0]), size: { min: 0, max: sizeOf(target).max } }
  }
  switch (overload) {
    case 'string_format':
      return { cost: traversalCost(target) }
    case 'string_to_bytes':
      return { cost: traversalCost(args[0]), size: { min: sizeOf(args[0]).min, max: Math.min(unknown.max, sizeOf(args[0]).max * 4) } }
    case 'bytes_to_string':
      return { cost: traversalCost(args[0]), size: { min: Math.floor(sizeOf(args[0]).min / 4), max: sizeOf(args[0]).max } }
    case 'strings_quote':
      return {
        cost: traversalCost(args[0]),
        size: { min: sizeOf(args[0]).min + 2, max: Math.min(unknown.max, sizeOf(args[0]).max * 2 + 2) },
      }
    case 'starts_with_string':
    case 'ends_with_string':
      return { cost: traversalCost(args[0]) }
    case 'in_list':
      return { cost: sizeOf(args[1]) }
    case 'matches_string':
      return { cost: regexCost(target, args[0]) }
    case 'contains_string':
      return { cost: multiply(traversalCost(target), traversalCost(args[0])) }
    case 'add_list':
      return { cost: fixed(1), size: add(sizeOf(args[0]), sizeOf(args[1])) }
    case 'add_string':
    case 'add_bytes': {
      const size = add(sizeOf(args[0]), sizeOf(args[1]))
      return { cost: scale(size, traversalFactor), size }
    }
  }
  return /^(?:equals|not_equals|(?:less|greater)(?:_equals)?_(?:string|bytes))$/.test(overload) ? { cost: comparisonCost(args) } : undefined
}

function comparisonCost([left, right]: readonly CostNode[]): Range {
  const max = Math.min(sizeOf(left).max, sizeOf(right).max)
  return scale({ min: max > 0 ? 1 : 0, max }, traversalFactor)
}

function joinEstimate({ estimator, target, args }: Call): CallEstimate | undefined {
  if (target === undefined) return undefined
  const count = sizeOf(target)
  const itemSize = target.path.length === 0 ? unknown : (estimator.sizeAt([...target.path, '@items']) ?? unknown)
  const separators = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) }
  // If the type of the target is dyn, kube-apiserver's estimate ignores the sizes of the items.
  const joined = target.type.parameters.length === 0 ? fixed(0) : multiply(count, itemSize)
  const size = args[0] === undefined ? joined : add(joined, multiply(sizeOf(args[0]), separators))
  return { cost: scale(size, traversalFactor), size }
}

/** Returns the minimum and maximum length of the string that `replace` returns. */
function replacedSize(text: Range, old: Range, replacement: Range): Range {
  const grown = { count: 0, kept: 0 }
  if (old.min === 0) Object.assign(grown, { count: text.max + 1, kept: text.max })
  else if (replacement.max <= old.min) grown.kept = text.max
  else grown.count = Math.ceil(text.max / old.min)
  const shrunk = { count: 0, kept: 0 }
  if (old.max === 0) Object.assign(shrunk, { count: text.min + 1, kept: text.min })
  else if (old.max <= replacement.min) shrunk.kept = text.min
  else shrunk.count = Math.ceil(text.min / old.max)
  const count = { min: shrunk.count, max: grown.count }
  return add(multiply(count, replacement), { min: shrunk.kept, max: grown.kept })
}
