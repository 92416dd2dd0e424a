/** Decides whether a type is assignable to another type, and infers type parameters (`cel-go/checker: types.go`). */
import type { Type } from './types.ts'
import { dynType, formatType, sameType } from './types.ts'

/** The types that have been inferred so far, keyed by the name of the type parameter. */
export type Mapping = ReadonlyMap<string, Type>

const nullable = new Set(['opaque', 'struct', 'duration', 'timestamp'])

function isDyn(type: Type): boolean {
  return type.kind === 'dyn'
}

function isDynOrError(type: Type): boolean {
  return type.kind === 'dyn' || type.kind === 'error'
}

/**
 * Infers type parameters so that each type of `from` is assignable to the type in `to` with the same index. Returns the extended mapping;
 * undefined if a type is not assignable.
 */
export function assignAll(mapping: Mapping, from: readonly Type[], to: readonly Type[]): Mapping | undefined {
  const copy = new Map(mapping)
  return allAssignable(copy, from, to) ? copy : undefined
}

export function assign(mapping: Mapping, from: Type, to: Type): Mapping | undefined {
  return assignAll(mapping, [from], [to])
}

function allAssignable(mapping: Map<string, Type>, a: readonly Type[], b: readonly Type[]): boolean {
  return a.length === b.length && a.every((type, index) => isAssignable(mapping, type, b[index]!))
}

function isAssignable(mapping: Map<string, Type>, a: Type, b: Type): boolean {
  if (b.kind === 'parameter') {
    const found = substitutable(mapping, a, b)
    if (found.valid) return true
    if (found.known) return false
  }
  if (a.kind === 'parameter') return substitutable(mapping, b, a).valid
  if (isDynOrError(a) || isDynOrError(b)) return true
  if (a.kind === 'null') return b.kind === 'null' || nullable.has(b.kind)
  if (b.kind === 'null') return nullable.has(a.kind)
  switch (a.kind) {
    case 'type':
      return b.kind === 'type'
    case 'opaque':
    case 'list':
    case 'map':
      return a.kind === b.kind && a.name === b.name && allAssignable(mapping, a.parameters, b.parameters)
    default:
      return a.kind === b.kind && a.name === b.name
  }
}

/**
 * Tries to substitute `type` for the type parameter, and updates the inferred type of the parameter in the mapping. The result has these
 * fields:
 *
 * - `valid`: true if the substitution is possible.
 * - `known`: true if `type` is the parameter itself, or if the mapping contained the parameter before the call.
 */
function substitutable(mapping: Map<string, Type>, type: Type, parameter: Type): { valid: boolean; known: boolean } {
  if (sameType(type, parameter)) return { valid: true, known: true }
  const known = mapping.get(parameter.name)
  if (known !== undefined) {
    if (sameType(type, known)) return { valid: true, known: true }
    if (!isAssignable(mapping, type, known)) return { valid: false, known: true }
    const general = mostGeneral(type, known)
    if (isFree(mapping, parameter, general)) mapping.set(parameter.name, general)
    return { valid: true, known: true }
  }
  if (!isFree(mapping, parameter, type)) return { valid: false, known: false }
  mapping.set(parameter.name, type)
  return { valid: true, known: false }
}

/** Returns true when the type `within` does not contain the type parameter. */
function isFree(mapping: Mapping, parameter: Type, within: Type): boolean {
  if (sameType(parameter, within)) return false
  if (within.kind === 'parameter') {
    const known = mapping.get(within.name)
    return known === undefined || isFree(mapping, parameter, known)
  }
  return within.parameters.every((type) => isFree(mapping, parameter, type))
}

export function mostGeneral(a: Type, b: Type): Type {
  return isLessSpecific(a, b) ? a : b
}

function isLessSpecific(a: Type, b: Type): boolean {
  if (isDyn(a) || a.kind === 'parameter') return true
  if (isDyn(b) || b.kind === 'parameter') return false
  if (a.kind !== b.kind) return false
  if (a.kind === 'type') return true
  if (a.kind !== 'opaque' && a.kind !== 'list' && a.kind !== 'map') return sameType(a, b)
  return (
    a.name === b.name &&
    a.parameters.length === b.parameters.length &&
    a.parameters.every((parameter, index) => isLessSpecific(parameter, b.parameters[index]!))
  )
}

/**
 * Returns the type with inferred types in place of its type parameters. If a parameter has no inferred type, `unknownIsDyn` decides: if
 * true, dyn replaces the parameter; if false, the parameter stays.
 */
export function substitute(mapping: Mapping, type: Type, unknownIsDyn: boolean): Type {
  if (type.kind === 'parameter') {
    const known = mapping.get(type.name)
    if (known !== undefined) return substitute(mapping, known, unknownIsDyn)
    return unknownIsDyn ? dynType : type
  }
  if (type.parameters.length === 0) return type
  return { ...type, parameters: type.parameters.map((parameter) => substitute(mapping, parameter, unknownIsDyn)) }
}

/** Formats the argument types of a call for messages, such as `int.(string, list(int))` for a member function. */
export function formatArguments(types: readonly Type[], isMember: boolean): string {
  const names = types.map(formatType)
  return isMember ? `${names[0]}.(${names.slice(1).join(', ')})` : `(${names.join(', ')})`
}
