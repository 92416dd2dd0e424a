/** Expands macros such as `has`, `all`, `map`, `optMap` and `sortBy` (`cel-go/parser: macro.go`, `cel-go/ext`). */
import type { Call, Comprehension, Expr } from './ast.ts'
import { accumulatorName } from './ast.ts'
import { CelSyntaxError } from './issues.ts'

type Expand = (target: Expr, args: readonly Expr[], build: Builder) => Expr

/** Returns the expansion of a call that is a macro. Any other call is returned unchanged. */
export function expandMacro(call: Call): Expr {
  const build = builderAt(call.offset)
  if (call.target === undefined) {
    return call.name === 'has' && call.args.length === 1 ? presenceTest(call.args[0]!, call.offset) : call
  }
  const expand = macros.get(`${call.name}/${call.args.length}`)
  return expand === undefined ? call : expand(call.target, call.args, build)
}

type Builder = ReturnType<typeof builderAt>

/** Returns functions that build syntax tree nodes. All nodes have the offset of the macro call. */
function builderAt(offset: number) {
  const literal = (value: boolean | number): Expr => ({ kind: 'literal', offset, value })
  const ident = (name: string): Expr => ({ kind: 'ident', offset, name })
  const list = (...elements: Expr[]): Expr => ({ kind: 'list', offset, elements, optionals: [] })
  return {
    literal,
    ident,
    list,
    accumulator: ident(accumulatorName),
    map: (): Expr => ({ kind: 'map', offset, entries: [] }),
    call: (name: string, ...args: Expr[]): Expr => ({ kind: 'call', offset, name, target: undefined, args }),
    member: (name: string, target: Expr, ...args: Expr[]): Expr => ({ kind: 'call', offset, name, target, args }),
    fold: (parts: Omit<Comprehension, 'kind' | 'offset' | 'accumulator'>): Expr => ({
      kind: 'comprehension',
      offset,
      accumulator: accumulatorName,
      ...parts,
    }),
    /**
     * Builds a comprehension without iterations. The result of the comprehension is `result`, evaluated with the variable `name`, whose
     * value is `value`.
     */
    bind: (name: string, value: Expr, result: Expr): Expr => ({
      kind: 'comprehension',
      offset,
      range: list(),
      variable: '#unused',
      variable2: undefined,
      accumulator: name,
      initial: value,
      condition: literal(false),
      step: ident(name),
      result,
    }),
  }
}

function presenceTest(argument: Expr, offset: number): Expr {
  if (argument.kind !== 'select') throw new CelSyntaxError(argument.offset, 'invalid argument to has() macro')
  return { ...argument, offset, testOnly: true }
}

interface Variables {
  readonly variable: string
  readonly variable2: string | undefined
}

function variableName(argument: Expr | undefined, problem: string): string {
  if (argument?.kind !== 'ident') throw new CelSyntaxError(argument?.offset, problem)
  return argument.name
}

function oneVariable(args: readonly Expr[], problem = 'argument must be a simple name'): Variables {
  const variable = variableName(args[0], problem)
  if (isAccumulator(variable)) throw new CelSyntaxError(args[0]?.offset, 'iteration variable overwrites accumulator variable')
  return { variable, variable2: undefined }
}

function twoVariables(args: readonly Expr[]): Variables {
  const variable = variableName(args[0], 'argument must be a simple name')
  const variable2 = variableName(args[1], 'argument must be a simple name')
  if (variable === variable2) throw new CelSyntaxError(args[1]?.offset, `duplicate variable name: ${variable}`)
  for (const argument of args.slice(0, 2)) {
    if (argument.kind === 'ident' && isAccumulator(argument.name)) {
      throw new CelSyntaxError(argument.offset, 'iteration variable overwrites accumulator variable')
    }
  }
  return { variable, variable2 }
}

function isAccumulator(name: string): boolean {
  return name === '__result__' || name === accumulatorName
}

function all(range: Expr, variables: Variables, predicate: Expr, build: Builder): Expr {
  return build.fold({
    range,
    ...variables,
    initial: build.literal(true),
    condition: build.call('@not_strictly_false', build.accumulator),
    step: build.call('_&&_', build.accumulator, predicate),
    result: build.accumulator,
  })
}

function exists(range: Expr, variables: Variables, predicate: Expr, build: Builder): Expr {
  return build.fold({
    range,
    ...variables,
    initial: build.literal(false),
    condition: build.call('@not_strictly_false', build.call('!_', build.accumulator)),
    step: build.call('_||_', build.accumulator, predicate),
    result: build.accumulator,
  })
}

function existsOne(range: Expr, variables: Variables, predicate: Expr, build: Builder): Expr {
  return build.fold({
    range,
    ...variables,
    initial: build.literal(0),
    condition: build.literal(true),
    step: build.call('_?_:_', predicate, build.call('_+_', build.accumulator, build.literal(1)), build.accumulator),
    result: build.call('_==_', build.accumulator, build.literal(1)),
  })
}

/**
 * Builds a comprehension that creates a list or map. `step` adds an item or entry to the list or map. If `filter` is false for an element
 * of `range`, `step` is skipped for this element.
 */
function collect(range: Expr, variables: Variables, initial: Expr, filter: Expr | undefined, step: Expr, build: Builder): Expr {
  return build.fold({
    range,
    ...variables,
    initial,
    condition: build.literal(true),
    step: filter === undefined ? step : build.call('_?_:_', filter, step, build.accumulator),
    result: build.accumulator,
  })
}

function map(range: Expr, args: readonly Expr[], build: Builder): Expr {
  const variables = oneVariable(args, 'argument is not an identifier')
  const filter = args.length === 3 ? args[1] : undefined
  const step = build.call('_+_', build.accumulator, build.list(args.at(-1)!))
  return collect(range, variables, build.list(), filter, step, build)
}

/**
 * Returns the function that expands `transformList`, `transformMap` or `transformMapEntry`. The arguments of these macros are two
 * variables, an optional filter and a transformation.
 */
function transform(initial: (build: Builder) => Expr, step: (variables: Variables, value: Expr, build: Builder) => Expr): Expand {
  return (range, args, build) => {
    const variables = twoVariables(args)
    const filter = args.length === 4 ? args[2] : undefined
    return collect(range, variables, initial(build), filter, step(variables, args.at(-1)!, build), build)
  }
}

const transformList = transform(
  (build) => build.list(),
  (_, value, build) => build.call('_+_', build.accumulator, build.list(value)),
)
const transformMap = transform(
  (build) => build.map(),
  ({ variable }, value, build) => build.call('cel.@mapInsert', build.accumulator, build.ident(variable), value),
)
const transformMapEntry = transform(
  (build) => build.map(),
  (_, value, build) => build.call('cel.@mapInsert', build.accumulator, value),
)

function optionalMap(name: string, wrap: (value: Expr, build: Builder) => Expr): Expand {
  return (target, args, build) => {
    const variable = variableName(args[0], `${name}() variable name must be a simple identifier`)
    const value = build.bind(variable, build.member('value', target), args[1]!)
    return build.call('_?_:_', build.member('hasValue', target), wrap(value, build), build.call('optional.none'))
  }
}

const sortInput = '@__sortBy_input__'

function sortBy(target: Expr, args: readonly Expr[], build: Builder): Expr {
  if (!['list', 'select', 'ident', 'comprehension', 'call'].includes(target.kind)) {
    throw new CelSyntaxError(target.offset, 'sortBy can only be applied to a list, identifier, comprehension, call or select expression')
  }
  const keys = map(build.ident(sortInput), args, build)
  return build.bind(sortInput, target, build.member('@sortByAssociatedKeys', build.ident(sortInput), keys))
}

const macros: ReadonlyMap<string, Expand> = new Map<string, Expand>([
  ['all/2', (target, args, build) => all(target, oneVariable(args), args[1]!, build)],
  ['all/3', (target, args, build) => all(target, twoVariables(args), args[2]!, build)],
  ['exists/2', (target, args, build) => exists(target, oneVariable(args), args[1]!, build)],
  ['exists/3', (target, args, build) => exists(target, twoVariables(args), args[2]!, build)],
  ['exists_one/2', (target, args, build) => existsOne(target, oneVariable(args), args[1]!, build)],
  ['existsOne/3', (target, args, build) => existsOne(target, twoVariables(args), args[2]!, build)],
  ['exists_one/3', (target, args, build) => existsOne(target, twoVariables(args), args[2]!, build)],
  ['map/2', map],
  ['map/3', map],
  [
    'filter/2',
    (target, args, build) => {
      const variables = oneVariable(args, 'argument is not an identifier')
      const step = build.call('_+_', build.accumulator, build.list(args[0]!))
      return collect(target, variables, build.list(), args[1], step, build)
    },
  ],
  ['transformList/3', transformList],
  ['transformList/4', transformList],
  ['transformMap/3', transformMap],
  ['transformMap/4', transformMap],
  ['transformMapEntry/3', transformMapEntry],
  ['transformMapEntry/4', transformMapEntry],
  ['optMap/2', optionalMap('optMap', (value, build) => build.call('optional.of', value))],
  ['optFlatMap/2', optionalMap('optFlatMap', (value) => value)],
  ['sortBy/2', sortBy],
])
