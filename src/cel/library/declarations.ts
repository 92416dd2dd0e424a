/** Declares the functions of the CEL libraries. A declaration consists of a signature as a string, an ID and an implementation. */
import type { Type } from '../types/types.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  opaqueType,
  optionalType,
  parameterType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from '../types/types.ts'
import type { Value } from '../types/values.ts'

export type Implementation = (...args: never[]) => Value

/** One signature of a function, with its implementation. */
export interface Overload {
  /** The overload ID of cel-go. The cost of a call depends on this ID or on the function name (see `callCost`). */
  readonly id: string
  readonly name: string
  /** True for a member function, whose first parameter is the receiver. */
  readonly member: boolean
  readonly parameters: readonly Type[]
  readonly result: Type
  readonly typeParameters: readonly string[]
  /** The implementation; undefined for overloads such as `&&`, which the planner implements. */
  readonly implementation: Implementation | undefined
}

const namedTypes = new Map<string, Type>([
  ['bool', boolType],
  ['bytes', bytesType],
  ['double', doubleType],
  ['duration', durationType],
  ['dyn', dynType],
  ['int', intType],
  ['null', nullType],
  ['string', stringType],
  ['timestamp', timestampType],
  ['uint', uintType],
])

/**
 * Declares an overload from a signature, e.g. `size(list<A>) -> int` for a global function, or `string::charAt(int) -> string` for a member
 * function. A single capital letter is a type parameter. A name that starts with `kubernetes.` or `net.` is a type of Kubernetes'
 * libraries.
 */
export function define(signature: string, id: string, implementation?: Implementation): Overload {
  const match = /^(?:(.+?)::)?([^\s(]+)\((.*)\) -> (.+)$/.exec(signature)
  if (match === null) throw new Error(`not a signature: ${signature}`)
  const [, target, name = '', args = '', result = ''] = match
  const typeParameters = new Set<string>()
  const typeOf = (text: string): Type => parseType(text, typeParameters)
  return {
    id,
    name,
    member: target !== undefined,
    parameters: [...(target === undefined ? [] : [target]), ...splitTypes(args)].map(typeOf),
    result: typeOf(result),
    typeParameters: [...typeParameters],
    implementation,
  }
}

function parseType(text: string, typeParameters: Set<string>): Type {
  const generic = /^(\w+)<(.*)>$/.exec(text)
  if (generic !== null) {
    const parameters = splitTypes(generic[2]!).map((parameter) => parseType(parameter, typeParameters))
    if (generic[1] === 'list') return listType(parameters[0]!)
    if (generic[1] === 'map') return mapType(parameters[0]!, parameters[1]!)
    return generic[1] === 'type' ? typeType(parameters[0]) : optionalType(parameters[0]!)
  }
  if (/^[A-Z]$/.test(text)) {
    typeParameters.add(text)
    return parameterType(text)
  }
  // Kubernetes declares the types of IP addresses and CIDRs as opaque types, and the other types of its libraries as object types. Null is
  // assignable to opaque types and to object types.
  return namedTypes.get(text) ?? (text.startsWith('kubernetes.') ? { kind: 'struct', name: text, parameters: [] } : opaqueType(text))
}

/** Splits a list of types at the commas that are not within angle brackets. */
function splitTypes(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at <= text.length; at += 1) {
    const character = text[at]
    if (character === '<') depth += 1
    else if (character === '>') depth -= 1
    else if (character === undefined || (character === ',' && depth === 0)) {
      const part = text.slice(start, at).trim()
      if (part !== '') parts.push(part)
      start = at + 1
    }
  }
  return parts
}

/** Groups overloads by function name. Within a group, the overloads keep the order of their declaration. */
export function functionTable(overloads: readonly Overload[]): ReadonlyMap<string, readonly Overload[]> {
  const table = new Map<string, Overload[]>()
  for (const overload of overloads) {
    const known = table.get(overload.name)
    if (known === undefined) table.set(overload.name, [overload])
    else known.push(overload)
  }
  return table
}
