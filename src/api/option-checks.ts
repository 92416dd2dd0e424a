/**
 * Checks of options, for callers whose compiler does not see them: programs in JavaScript, and fields that a wider type lets through.
 * Each problem starts with the path of what is wrong: `versions[0].printerColums: unknown field; did you mean printerColumns?`.
 */
import leven from 'leven'
import { ProreusError } from './errors.ts'
import { quote } from './field-error.ts'
import { isObject } from './json.ts'

/** The problems of one value; the path is empty for the options as a whole. */
export type OptionCheck = (value: unknown, path: string) => readonly string[]

/** A value that is as described, which the message says after "must be". */
export function expect(description: string, isExpected: (value: unknown) => boolean): OptionCheck {
  return (value, path) => (isExpected(value) ? [] : [`${path || 'options'}: must be ${description}, found ${found(value)}`])
}

export const isAnything: OptionCheck = () => []
export const isText: OptionCheck = expect('a string', (value) => typeof value === 'string')
export const isBoolean: OptionCheck = expect('true or false', (value) => typeof value === 'boolean')
export const isFunction: OptionCheck = expect('a function', (value) => typeof value === 'function')
export const isAnObject: OptionCheck = expect('an object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value))
/** A type as `core.pod`, `resourceType(…)` and `defineKind(…)` return it. */
export const isResourceType: OptionCheck = expect('a type, such as core.pod, or what defineKind returns', (value) => isType(value))

export function isType(value: unknown): boolean {
  return isObject(value) && typeof value['plural'] === 'string' && typeof value['kind'] === 'string' && typeof value['version'] === 'string'
}

export function isWholeNumber(least: number): OptionCheck {
  return expect(`a whole number of at least ${least}`, (value) => Number.isInteger(value) && (value as number) >= least)
}

/** A time that must pass, in milliseconds. */
export const isDuration: OptionCheck = expect('a number of milliseconds above 0', (value) => typeof value === 'number' && value > 0)
/** A time that may be none, in milliseconds. */
export const isDelay: OptionCheck = expect('a number of milliseconds of at least 0', (value) => typeof value === 'number' && value >= 0)

export function isOneOf(...values: readonly string[]): OptionCheck {
  return expect(`one of ${values.map(quote).join(', ')}`, (value) => values.includes(value as string))
}

export function isListOf(check: OptionCheck): OptionCheck {
  const isList = expect('a list', Array.isArray)
  return (value, path) =>
    Array.isArray(value) ? value.flatMap((item: unknown, index) => check(item, `${path}[${index}]`)) : isList(value, path)
}

/** An object whose fields have names of the caller's choice. */
export function isMapOf(check: OptionCheck): OptionCheck {
  return (value, path) =>
    isObject(value)
      ? Object.entries(value).flatMap(([name, item]) => (item === undefined ? [] : check(item, `${path}.${name}`)))
      : isAnObject(value, path)
}

interface Strictness {
  /** The object may have fields of its own, as instances of classes do: only what looks like a slip is reported. */
  readonly mayHaveOthers?: boolean
}

/** An object with these fields and no others; a field that is undefined counts as absent. */
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

/** @throws {ProreusError} `PRO_CONFIG_INVALID` with the problems of the options of a function, unless there are none. */
export function refuseOptions(of: string, problems: readonly string[]): void {
  if (problems.length > 0)
    throw new ProreusError('PRO_CONFIG_INVALID', `The options of ${of} are not well defined: ${problems.join('; ')}.`)
}

function found(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number' || typeof value === 'boolean' || value === undefined || value === null) return String(value)
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** `; did you mean printerColumns?` where a known name is so near that the other one is a slip, else nothing. */
export function suggestion(name: string, known: readonly string[]): string {
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: leven(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
  // Two wrong letters are a slip, in a short word one.
  return nearest !== undefined && nearest.distance <= Math.min(2, name.length / 3) ? `; did you mean ${nearest.candidate}?` : ''
}
