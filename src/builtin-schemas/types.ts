/**
 * Parses `types.json`, the schemas of Kubernetes' own types, which `scripts/builtin-schemas.ts` generates. In this file, each type is a
 * JSON object from field names to strings that denote the type of the field. The name of a required field ends with `!`. A string is one
 * of:
 *
 *     string, boolean, int32, int64, bytes, time, quantity, int-or-string, object (any)
 *     =A|B               an enum with the values A and B
 *     Container          another type of the file
 *     [X], {X}           a list or a map of X
 *     [X] by name,port   a list of type `map` with these keys
 */
import data from './types.json' with { type: 'json' }

const scalars = ['string', 'boolean', 'int32', 'int64', 'bytes', 'time', 'quantity', 'int-or-string', 'object'] as const

export type BuiltinScalar = (typeof scalars)[number]

export type BuiltinValue =
  | { readonly form: 'scalar'; readonly scalar: BuiltinScalar }
  | { readonly form: 'enum'; readonly values: readonly string[] }
  | { readonly form: 'type'; readonly name: string }
  | { readonly form: 'list'; readonly items: BuiltinValue; readonly keys: readonly string[] }
  | { readonly form: 'map'; readonly values: BuiltinValue }

export interface BuiltinField {
  readonly name: string
  readonly required: boolean
  readonly value: BuiltinValue
}

const types = data.types as Readonly<Record<string, Readonly<Record<string, string>>>>

/** The names of all types in `types.json`, including types that only other types refer to. */
export const builtinTypeNames: readonly string[] = Object.keys(types)

/** Returns the fields of a type, or undefined when `types.json` has no type of this name. */
export function builtinFields(name: string): readonly BuiltinField[] | undefined {
  if (!Object.hasOwn(types, name)) return undefined
  return Object.entries(types[name]!).map(([field, text]) => {
    const required = field.endsWith('!')
    return { name: required ? field.slice(0, -1) : field, required, value: valueOf(text) }
  })
}

function valueOf(text: string): BuiltinValue {
  if (text.startsWith('=')) return { form: 'enum', values: text.slice(1).split('|') }
  if (text.startsWith('{')) return { form: 'map', values: valueOf(text.slice(1, -1)) }
  if (text.startsWith('[')) {
    const end = text.lastIndexOf(']')
    const [, keys] = text.slice(end + 1).split(' by ')
    return { form: 'list', items: valueOf(text.slice(1, end)), keys: keys?.split(',') ?? [] }
  }
  const scalar = scalars.find((candidate) => candidate === text)
  return scalar === undefined ? { form: 'type', name: text } : { form: 'scalar', scalar }
}
