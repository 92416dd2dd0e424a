/**
 * Validates options at run time, because callers in JavaScript and values of wider types are not type-checked. Each error message starts
 * with the path of the option, e.g. `versions[0].printerColums: unknown field; did you mean printerColumns?`.
 */
import leven from 'leven'
import { ProreusError } from './errors.ts'
import { quote } from './field-error.ts'
import { isObject } from './json.ts'

/** Returns the error messages for a value. `path` is the path of the option. The path is empty for the object that contains all options. */
export type OptionCheck = (value: unknown, path: string) => readonly string[]

const none: readonly string[] = []

/**
 * Returns a check that accepts the values for which `isExpected` returns true. The error message is `PATH: must be DESCRIPTION, found
 * VALUE`.
 */
export function expect(description: string, isExpected: (value: unknown) => boolean): OptionCheck {
  return (value, path) => (isExpected(value) ? none : [`${path || 'options'}: must be ${description}, found ${describeFound(value)}`])
}

export const isAnything: OptionCheck = () => none
export const isText: OptionCheck = expect('a string', (value) => typeof value === 'string')
export const isBoolean: OptionCheck = expect('true or false', (value) => typeof value === 'boolean')
export const isFunction: OptionCheck = expect('a function', (value) => typeof value === 'function')
export const isAnObject: OptionCheck = expect('an object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value))
/** Accepts a resource type, e.g. `core.pod`, the result of `resourceType`, or the result of `defineKind`. */
export const isResourceType: OptionCheck = expect('a type, such as core.pod, or what defineKind returns', (value) => isType(value))

export function isType(value: unknown): boolean {
  return isObject(value) && typeof value['plural'] === 'string' && typeof value['kind'] === 'string' && typeof value['version'] === 'string'
}

export function isWholeNumber(least: number): OptionCheck {
  return expect(`a whole number of at least ${least}`, (value) => Number.isInteger(value) && (value as number) >= least)
}

/** Returns true when a value has methods with these names. Inherited methods count. */
function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')
}

export const isLogger: OptionCheck = expect('a logger, such as createLogger returns', (value) =>
  hasMethods(value, 'child', 'debug', 'info', 'warn', 'error'),
)
export const isClock: OptionCheck = expect('a clock, with now, monotonicNow and after', (value) =>
  hasMethods(value, 'now', 'monotonicNow', 'after'),
)
export const isSignal: OptionCheck = expect('an AbortSignal', (value) => hasMethods(value, 'addEventListener', 'throwIfAborted'))

/** Accepts a duration in milliseconds, which must be more than 0. */
export const isDuration: OptionCheck = expect('a number of milliseconds above 0', (value) => typeof value === 'number' && value > 0)
/** Accepts a delay in milliseconds, which may be 0. */
export const isDelay: OptionCheck = expect('a number of milliseconds of at least 0', (value) => typeof value === 'number' && value >= 0)

export function isOneOf(...values: readonly string[]): OptionCheck {
  return expect(`one of ${values.map(quote).join(', ')}`, (value) => values.includes(value as string))
}

export function isListOf(check: OptionCheck): OptionCheck {
  const isList = expect('a list', Array.isArray)
  return (value, path) =>
    Array.isArray(value) ? value.flatMap((item: unknown, index) => check(item, `${path}[${index}]`)) : isList(value, path)
}

/** Returns a check that accepts an object with any keys, if `check` accepts all values of the object. */
export function isMapOf(check: OptionCheck): OptionCheck {
  return (value, path) =>
    isObject(value)
      ? Object.entries(value).flatMap(([name, item]) => (item === undefined ? [] : check(item, `${path}.${name}`)))
      : isAnObject(value, path)
}

interface Strictness {
  /**
   * True when the object may have unknown fields, e.g. because it is an instance of a class. An unknown field is then an error only if its
   * name is probably a misspelling of a known name.
   */
  readonly mayHaveOthers?: boolean
}

/**
 * Returns a check that accepts an object under three conditions: all `required` fields are present, `fields` contains each field of the
 * object, and the check of each field accepts its value. `mayHaveOthers` relaxes the second condition. A field whose value is undefined
 * counts as absent.
 */
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
    const problems: string[] = []
    for (const name of required) if (options[name] === undefined) problems.push(`${at(name)}: is missing`)
    // The methods of the client check their options in each call, so this check must be fast. A loop is faster than `flatMap`, which would
    // create an array for each option.
    for (const name of Object.keys(options)) {
      const check = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (check === undefined) {
        const meant = suggestion(name, Object.keys(fields))
        if (!mayHaveOthers || meant !== '') problems.push(`${at(name)}: unknown field${meant}`)
      } else if (options[name] !== undefined) {
        for (const problem of check(options[name], at(name))) problems.push(problem)
      }
    }
    return problems
  }
}

/**
 * Throws when `problems` is not empty. `of` is the name of the function whose options were checked.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` with all messages.
 */
export function refuseOptions(of: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new ProreusError('PRO_CONFIG_INVALID', `The options of ${of} are invalid: ${problems.join('; ')}.`)
}

/** Describes an invalid value for an error message. An object is not shown, because it may contain a secret. */
export function describeFound(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number' || typeof value === 'boolean' || value === undefined || value === null) return String(value)
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/**
 * If `name` is probably a misspelling of a known name, returns a suggestion for an error message, e.g. `; did you mean printerColumns?`.
 * Otherwise, returns an empty string.
 */
export function suggestion(name: string, known: readonly string[]): string {
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: leven(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
  // A name counts as a misspelling if its edit distance from a known name is at most two, and at most a third of the length of the name.
  return nearest !== undefined && nearest.distance <= Math.min(2, name.length / 3) ? `; did you mean ${nearest.candidate}?` : ''
}
