/**
 * Validates options at run time, for callers in JavaScript and for fields that a wider type allows. Each error starts with the path of the
 * option: `versions[0].printerColums: unknown field; did you mean printerColumns?`.
 */
import leven from 'leven'
import { ProreusError } from './errors.ts'
import { quote } from './field-error.ts'
import { isObject } from './json.ts'

/** Returns the errors of one value; the path is empty for the options as a whole. */
export type OptionCheck = (value: unknown, path: string) => readonly string[]

/** Accepts a value for which `isExpected` is true. The error message contains the description after "must be". */
export function expect(description: string, isExpected: (value: unknown) => boolean): OptionCheck {
  return (value, path) => (isExpected(value) ? [] : [`${path || 'options'}: must be ${description}, found ${found(value)}`])
}

export const isAnything: OptionCheck = () => []
export const isText: OptionCheck = expect('a string', (value) => typeof value === 'string')
export const isBoolean: OptionCheck = expect('true or false', (value) => typeof value === 'boolean')
export const isFunction: OptionCheck = expect('a function', (value) => typeof value === 'function')
export const isAnObject: OptionCheck = expect('an object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value))
/** Accepts a type as `core.pod`, `resourceType(…)` and `defineKind(…)` return it. */
export const isResourceType: OptionCheck = expect('a type, such as core.pod, or what defineKind returns', (value) => isType(value))

export function isType(value: unknown): boolean {
  return isObject(value) && typeof value['plural'] === 'string' && typeof value['kind'] === 'string' && typeof value['version'] === 'string'
}

export function isWholeNumber(least: number): OptionCheck {
  return expect(`a whole number of at least ${least}`, (value) => Number.isInteger(value) && (value as number) >= least)
}

/** Accepts a duration in milliseconds, above 0. */
export const isDuration: OptionCheck = expect('a number of milliseconds above 0', (value) => typeof value === 'number' && value > 0)
/** Accepts a delay in milliseconds, 0 or more. */
export const isDelay: OptionCheck = expect('a number of milliseconds of at least 0', (value) => typeof value === 'number' && value >= 0)

export function isOneOf(...values: readonly string[]): OptionCheck {
  return expect(`one of ${values.map(quote).join(', ')}`, (value) => values.includes(value as string))
}

export function isListOf(check: OptionCheck): OptionCheck {
  const isList = expect('a list', Array.isArray)
  return (value, path) =>
    Array.isArray(value) ? value.flatMap((item: unknown, index) => check(item, `${path}[${index}]`)) : isList(value, path)
}

/** Accepts an object whose keys are chosen by the caller. */
export function isMapOf(check: OptionCheck): OptionCheck {
  return (value, path) =>
    isObject(value)
      ? Object.entries(value).flatMap(([name, item]) => (item === undefined ? [] : check(item, `${path}.${name}`)))
      : isAnObject(value, path)
}

interface Strictness {
  /** True when the object may have other fields, as instances of classes do: only probable misspellings are reported. */
  readonly mayHaveOthers?: boolean
}

/** Accepts an object that has only these fields; a field whose value is undefined counts as absent. */
export function hasOptions(
  fields: Readonly<Record<string, OptionCheck>>,
  required: readonly string[] = [],
  { mayHaveOthers = false }: Strictness = {},
): OptionCheck {
  return (value, path) => {
    const wrong = isAnObject(value, path)
    if (wrong.length > 0) return wrong
    const options = value as Record<string, unknown>
    const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
    return [
      ...required.filter((name) => options[name] === undefined).map((name) => `${at(name)}: is missing`),
      ...Object.entries(options).flatMap(([name, option]) => {
        const check = Object.hasOwn(fields, name) ? fields[name] : undefined
        if (check === undefined) {
          const meant = suggestion(name, Object.keys(fields))
          return mayHaveOthers && meant === '' ? [] : [`${at(name)}: unknown field${meant}`]
        }
        return option === undefined ? [] : check(option, at(name))
      }),
    ]
  }
}

/** @throws {ProreusError} `PRO_CONFIG_INVALID` with the errors in the options of a function, if there are any. */
export function refuseOptions(of: string, problems: readonly string[]): void {
  if (problems.length > 0)
    throw new ProreusError('PRO_CONFIG_INVALID', `The options of ${of} are not well defined: ${problems.join('; ')}.`)
}

function found(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number' || typeof value === 'boolean' || value === undefined || value === null) return String(value)
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/**
 * Returns `; did you mean printerColumns?` when a known name is so similar that the other is probably misspelled; otherwise an empty
 * string.
 */
export function suggestion(name: string, known: readonly string[]): string {
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: leven(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
  // A name with up to two wrong letters counts as misspelled; a short name with fewer.
  return nearest !== undefined && nearest.distance <= Math.min(2, name.length / 3) ? `; did you mean ${nearest.candidate}?` : ''
}
