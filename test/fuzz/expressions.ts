/** A generator of CEL expressions of a given type. The expressions use the variables in scope and all functions of the library. */
import type { Overload } from '../../src/cel/library/declarations.ts'
import { functions } from '../../src/cel/library/index.ts'
import type { Type } from '../../src/cel/types/types.ts'
import {
  boolType,
  doubleType,
  dynType,
  intType,
  listType,
  mapType,
  optionalType,
  stringType,
  unwrapOptional,
} from '../../src/cel/types/types.ts'
import type { Dice } from '../support/dice.ts'
import { argumentFor, isSame, literal } from './literals.ts'

/**
 * A CEL expression and its type. The expression is a variable in scope, or a path that begins with a variable in scope, such as
 * `self.items[0]`.
 */
export interface Known {
  readonly text: string
  readonly type: Type
}

type Bindings = Map<string, Type>

const noOperators = new Set(['@not_strictly_false', 'cel.@mapInsert'])
const byName: readonly (readonly [string, readonly Overload[]])[] = [...functions].filter(
  ([name]) => !noOperators.has(name) && !/^@(?!in$)|\.@/.test(name),
)
const simpleTypes: readonly Type[] = [boolType, intType, stringType, doubleType, stringType, intType]
/** The types of generated map keys. cel-go has special rules for other types. For example, it panics if a key has the type bytes. */
const keyTypes: readonly Type[] = [stringType, stringType, intType, boolType]
const infix = /^_(\+|-|\*|\/|%|<|<=|>|>=|==|!=|&&|\|\|)_$/
/**
 * Functions that can return every type. When a function is chosen for a call, each of these functions is a candidate only with a
 * probability of 40 %. If these functions were always candidates, most expressions would be calls of these functions.
 */
const general = new Set(['_?_:_', '_[_]', 'orValue', 'value', 'dyn'])

/**
 * The types of the root object and of its metadata. `#anyType` never returns these types, so no generated call compares values of these
 * types. If a call compared such values, the result could differ between servers, because the metadata contains the time of the write.
 */
const compared = new Set(['selfType1', 'selfType1.metadata'])

/** The maximum number of paths that `pathsOf` returns. */
const maxPaths = 60

export class ExpressionWriter {
  readonly #dice: Dice
  /** The probability that a subexpression has a wrong type or an unknown name. */
  readonly #wrongness: number
  #names = 0

  constructor(dice: Dice, wrongness = 0) {
    this.#dice = dice
    this.#wrongness = wrongness
  }

  write(type: Type, depth: number, scope: readonly Known[]): string {
    const dice = this.#dice
    if (dice.chance(this.#wrongness)) return this.#wrong(depth, scope)
    const paths = pathsOf(scope, dice).filter((one) => isSame(one.type, type))
    const simple = (): string => {
      if (paths.length > 0 && dice.chance(0.8)) return dice.pick(paths).text
      return literal(dice, type) ?? (paths.length > 0 ? dice.pick(paths).text : `dyn(${this.write(dice.pick(simpleTypes), 0, scope)})`)
    }
    if (depth <= 0 || dice.chance(0.15)) return simple()
    return this.#compound(type, depth, scope) ?? simple()
  }

  /** Writes a boolean expression that is more than a name or a literal. */
  writeCondition(depth: number, scope: readonly Known[]): string {
    return this.#compound(boolType, depth, scope) ?? 'self == self'
  }

  #compound(type: Type, depth: number, scope: readonly Known[]): string | undefined {
    const dice = this.#dice
    if (dice.chance(0.3)) return this.#macro(type, depth - 1, scope)
    return this.#call(type, depth - 1, scope)
  }

  #wrong(depth: number, scope: readonly Known[]): string {
    const { text } = this.#dice.pick(scope)
    const other = this.write(this.#dice.pick(simpleTypes), depth - 1, scope)
    return this.#dice.pick([
      other,
      other,
      other,
      `${text}.missing`,
      `${text}[${other}]`,
      `${text}.a.b`,
      'missing',
      `missing(${other})`,
      `${other}.missing()`,
      `${other}.size(1)`,
      `has(${other})`,
      `${text}.all(1, true)`,
      `${text}.map(a, a, a, a)`,
      `${text} = 1`,
      `cel.bind(x, ${text}, x)`,
      `Foo{a: ${other}}`,
      `.${text}`,
      `${text}.__namespace__`,
      `${text}.namespace`,
      `(${other}`,
      `'${text}`,
      '1 +',
      '"\\z"',
      '9223372036854775808',
      '1u + 1',
      "timestamp('x')",
      "quantity('x') == quantity('1')",
      "'a'.matches('(')",
      'b"\\u00e9"',
      '[1, "a", true].size()',
      '{1: "a", "b": 2}.size()',
    ])
  }

  #call(type: Type, depth: number, scope: readonly Known[]): string | undefined {
    const dice = this.#dice
    const fitting = byName.flatMap(([name, overloads]) => {
      const found = overloads.flatMap((overload) => {
        const bindings: Bindings = new Map()
        return fits(overload.result, type, bindings) ? [{ overload, bindings }] : []
      })
      return found.length === 0 || (general.has(name) && !dice.chance(0.4)) ? [] : [found]
    })
    if (fitting.length === 0) return undefined
    const { overload, bindings } = dice.pick(dice.pick(fitting))
    for (const name of overload.typeParameters) {
      const isKey = overload.parameters.some((one) => one.kind === 'map' && one.parameters[0]?.name === name)
      if (!bindings.has(name)) bindings.set(name, isKey ? dice.pick(keyTypes) : this.#anyType(scope))
    }
    // The argument of `lists.range` must be small. The API server evaluates the rules on a default value before it estimates the cost of
    // the rules, so a huge list would crash the API server.
    if (overload.name === 'lists.range') return render(overload, [dice.pick(['0', '1', '3', '-1'])])
    const args = overload.parameters.map((parameter, index) => {
      const wanted = substitute(parameter, bindings)
      const isLast = index === overload.parameters.length - 1
      const special = (isLast || overload.name === 'format') && wanted.kind === 'string' ? argumentFor(dice, overload.name) : undefined
      return special !== undefined && dice.chance(0.8) ? special : this.write(wanted, depth, scope)
    })
    return render(overload, args)
  }

  #anyType(scope: readonly Known[]): Type {
    const paths = pathsOf(scope, this.#dice).filter(({ type }) => !compared.has(type.name))
    return paths.length > 0 && this.#dice.chance(0.6) ? this.#dice.pick(paths).type : this.#dice.pick(simpleTypes)
  }

  /** Writes a list or map over which a comprehension iterates. Returns the text, and the types of the keys and values. */
  #range(depth: number, scope: readonly Known[]): { text: string; isMap: boolean; key: Type; value: Type } {
    const dice = this.#dice
    const ranges = pathsOf(scope, dice).filter(({ type: { kind } }) => kind === 'list' || kind === 'map')
    if (ranges.length > 0 && dice.chance(0.8)) {
      const { text, type } = dice.pick(ranges)
      const [first, second] = type.parameters
      return { text, isMap: type.kind === 'map', key: type.kind === 'map' ? first! : intType, value: second ?? first! }
    }
    const value = dice.pick(simpleTypes)
    const isMap = dice.chance(0.2)
    const type = isMap ? mapType(stringType, value) : listType(value)
    return { text: this.write(type, depth, scope), isMap, key: isMap ? stringType : intType, value }
  }

  #fresh(): string {
    this.#names += 1
    return this.#dice.chance(0.1) ? 'self' : `v${this.#names}`
  }

  #macro(type: Type, depth: number, scope: readonly Known[]): string | undefined {
    const dice = this.#dice
    const [name, second] = [this.#fresh(), `w${this.#names}`]
    const within = (...more: Known[]): Known[] => [...scope.filter(({ text }) => !more.some((one) => one.text === text)), ...more]
    if (type.kind === 'bool') {
      if (dice.chance(0.3)) return this.#presence(scope)
      const { text, isMap, key, value } = this.#range(depth, scope)
      const macro = dice.pick(['all', 'exists', 'exists_one', 'existsOne'])
      if (dice.chance(0.3)) {
        const both = within({ text: name, type: key }, { text: second, type: value })
        return `${text}.${macro}(${name}, ${second}, ${this.write(boolType, depth, both)})`
      }
      const one = within({ text: name, type: isMap ? key : value })
      return `${text}.${macro === 'existsOne' ? 'exists_one' : macro}(${name}, ${this.write(boolType, depth, one)})`
    }
    if (type.kind === 'list') return this.#list(type, depth, scope, name, second, within)
    if (type.kind === 'map') {
      const { text, key, value } = this.#range(depth, scope)
      const both = within({ text: name, type: key }, { text: second, type: value })
      const filter = dice.chance(0.3) ? `${this.write(boolType, depth, both)}, ` : ''
      const result = type.parameters[1]!
      if (isSame(key, type.parameters[0]!) && dice.chance(0.7)) {
        return `${text}.transformMap(${name}, ${second}, ${filter}${this.write(result, depth, both)})`
      }
      const entry = `{${this.write(type.parameters[0]!, depth, both)}: ${this.write(result, depth, both)}}`
      return `${text}.transformMapEntry(${name}, ${second}, ${filter}${entry})`
    }
    const inner = unwrapOptional(type)
    if (inner === undefined) return undefined
    const source = this.#anyType(scope)
    const target = this.write(optionalType(source), depth, scope)
    const body = within({ text: name, type: source })
    return dice.chance(0.7)
      ? `${target}.optMap(${name}, ${this.write(inner, depth, body)})`
      : `${target}.optFlatMap(${name}, ${this.write(type, depth, body)})`
  }

  #list(
    type: Type,
    depth: number,
    scope: readonly Known[],
    name: string,
    second: string,
    within: (...more: Known[]) => Known[],
  ): string | undefined {
    const dice = this.#dice
    const item = type.parameters[0]!
    if (dice.chance(0.4)) {
      const list = this.write(type, depth, scope)
      const body = within({ text: name, type: item })
      return dice.chance(0.7)
        ? `${list}.filter(${name}, ${this.write(boolType, depth, body)})`
        : `${list}.sortBy(${name}, ${this.write(dice.pick([intType, stringType, doubleType]), depth, body)})`
    }
    const { text, isMap, key, value } = this.#range(depth, scope)
    if (dice.chance(0.3)) {
      const both = within({ text: name, type: key }, { text: second, type: value })
      const filter = dice.chance(0.3) ? `${this.write(boolType, depth, both)}, ` : ''
      return `${text}.transformList(${name}, ${second}, ${filter}${this.write(item, depth, both)})`
    }
    const body = within({ text: name, type: isMap ? key : value })
    const filter = dice.chance(0.3) ? `${this.write(boolType, depth, body)}, ` : ''
    return `${text}.map(${name}, ${filter}${this.write(item, depth, body)})`
  }

  #presence(scope: readonly Known[]): string {
    const fields = pathsOf(scope, this.#dice).filter(({ text }) => /\.\w+$/.test(text))
    return fields.length === 0 ? 'true' : `has(${this.#dice.pick(fields).text})`
  }
}

/** Returns the variables in scope, and the paths to their fields, items and map values. */
export function pathsOf(scope: readonly Known[], dice: Dice): readonly Known[] {
  const found: Known[] = []
  for (const queue = [...scope]; queue.length > 0 && found.length < maxPaths;) {
    const one = queue.shift()!
    found.push(one)
    const { text, type } = one
    for (const [name, { type: field }] of type.declared?.fields ?? []) {
      queue.push({ text: `${text}.${name}`, type: field })
      if (dice.chance(0.1)) queue.push({ text: `${text}.?${name}`, type: optionalType(field) })
    }
    const [first, second] = type.parameters
    if (type.kind === 'list') queue.push({ text: dice.chance(0.8) ? `${text}[0]` : `${text}[${dice.upTo(4)}]`, type: first! })
    if (type.kind === 'list' && dice.chance(0.1)) queue.push({ text: `${text}[?0]`, type: optionalType(first!) })
    if (type.kind === 'map' && first!.kind === 'string') {
      queue.push({ text: dice.chance(0.5) ? `${text}['a']` : `${text}.b`, type: second! })
      if (dice.chance(0.1)) queue.push({ text: `${text}[?'a']`, type: optionalType(second!) })
    }
    const inner = unwrapOptional(type)
    if (inner !== undefined && literal(dice, inner) !== undefined) {
      queue.push({ text: `${text}.orValue(${literal(dice, inner)})`, type: inner }, { text: `${text}.value()`, type: inner })
    } else if (inner !== undefined) queue.push({ text: `${text}.value()`, type: inner })
  }
  return found
}

function fits(pattern: Type, type: Type, bindings: Bindings): boolean {
  if (pattern.kind === 'parameter') {
    const bound = bindings.get(pattern.name)
    if (bound !== undefined) return isSame(bound, type)
    bindings.set(pattern.name, type)
    return true
  }
  if (pattern.kind !== type.kind || pattern.name !== type.name) return false
  return pattern.parameters.every((one, index) => type.parameters[index] === undefined || fits(one, type.parameters[index], bindings))
}

function substitute(type: Type, bindings: Bindings): Type {
  if (type.kind === 'parameter') return bindings.get(type.name) ?? dynType
  return type.parameters.length === 0 ? type : { ...type, parameters: type.parameters.map((one) => substitute(one, bindings)) }
}

function render({ name, member }: Overload, args: readonly string[]): string {
  const [a = '', b = '', c = ''] = args
  const operator = infix.exec(name)?.[1]
  if (operator !== undefined) return `(${a} ${operator} ${b})`
  switch (name) {
    case '_?_:_':
      return `(${a} ? ${b} : ${c})`
    case '_[_]':
      return `${a}[${b}]`
    case '_[?_]':
      return `${a}[?${b}]`
    case '!_':
      return `!${a}`
    case '-_':
      return `-(${a})`
    case '@in':
      return `(${a} in ${b})`
    default:
      return member ? `${a}.${name}(${args.slice(1).join(', ')})` : `${name}(${args.join(', ')})`
  }
}
